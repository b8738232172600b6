-- Which request of this site a transfer meets: whoever has signed it has what that request told, and is not told again.
ALTER TABLE transfers ADD COLUMN answers TEXT;
