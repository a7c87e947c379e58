-- A schema unlike that of the example: ids by bigint, uuid and several columns, and tickets and orders without a column
-- for their organization, which is that of the show.
CREATE SCHEMA box;
SET search_path = box;

CREATE TYPE state AS ENUM ('planned', 'on sale', 'over');
CREATE TYPE place AS (row_name text, number smallint);
CREATE DOMAIN price AS numeric(9, 2) CHECK (value >= 0);

CREATE TABLE companies (id bigint PRIMARY KEY, name text NOT NULL);

CREATE TABLE shows (
  id      uuid PRIMARY KEY,
  company bigint NOT NULL REFERENCES companies,
  title   varchar(20) NOT NULL,
  state   state NOT NULL,
  sale    tstzrange,
  labels  varchar(9)[],
  logo    bytea,
  details json,
  doors   time,
  host    inet,
  flags   bit(4),
  spot    point
);
CREATE INDEX ON shows (company);

CREATE TABLE dates (
  show   uuid REFERENCES shows,
  number smallint,
  day    date NOT NULL,
  length interval NOT NULL,
  PRIMARY KEY (show, number)
);

CREATE TABLE buyers (id bigint PRIMARY KEY, email text NOT NULL);

CREATE TABLE orders (
  id     bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
  show   uuid NOT NULL REFERENCES shows,
  buyer  bigint NOT NULL REFERENCES buyers,
  paid   boolean NOT NULL,
  total  price,
  placed timestamp NOT NULL
);
CREATE INDEX ON orders (show);
CREATE INDEX ON orders (buyer);
CREATE INDEX orders_by_text ON orders ((id::text));

CREATE TABLE tickets (
  "order" bigint REFERENCES orders,
  number  smallint,
  date    smallint NOT NULL,
  place   place,
  PRIMARY KEY ("order", number)
) PARTITION BY RANGE ("order");
CREATE TABLE tickets_1 PARTITION OF tickets FOR VALUES FROM (MINVALUE) TO (450);
CREATE TABLE tickets_2 PARTITION OF tickets FOR VALUES FROM (450) TO (MAXVALUE);
CREATE INDEX tickets_by_text ON tickets (("order"::text || '-' || number::text));

INSERT INTO companies VALUES (1, 'North'), (2, 'South');
INSERT INTO shows
SELECT ('00000000-0000-0000-0000-00000000000' || i)::uuid, 1 + i % 2, 'Show ' || i, 'on sale', '[2026-01-01,2026-02-01)',
       '{a,b}', '\x00', '{"a": 1}', '19:30', '10.0.0.1', b'0101', '(1,2)'
FROM generate_series(1, 6) AS i;
INSERT INTO dates SELECT id, number, '2027-01-01', '90 minutes' FROM shows, generate_series(1, 2) AS number;
INSERT INTO buyers SELECT i, i || '@example.org' FROM generate_series(1, 25) AS i;
INSERT INTO orders (show, buyer, paid, total, placed)
SELECT id, buyer, true, 10, '2026-01-01' FROM shows, generate_series(1, 25) AS buyer, generate_series(1, 6);
INSERT INTO tickets SELECT id, number, 1, ROW('A', number)::place FROM orders, generate_series(1, 2) AS number;
