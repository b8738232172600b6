-- What the numbers of the audit log are numbers of: another one is made whenever the records are put back.
INSERT INTO appliance (name, value) VALUES ('store-epoch', lower(hex(randomblob(16))));
