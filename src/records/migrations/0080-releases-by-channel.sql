-- Which packages hold a channel: where few do, a list of them is found at once among a hundred thousand. A release to a channel
-- that holds something already changes no row of it.
CREATE INDEX releases_by_channel ON releases (channel, package_id);
