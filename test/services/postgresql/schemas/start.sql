-- The start of the views of each schema.
DROP SCHEMA IF EXISTS feed CASCADE;
CREATE SCHEMA feed;

CREATE TABLE feed.time_zones AS SELECT name FROM pg_timezone_names;
ALTER TABLE feed.time_zones ADD PRIMARY KEY (name);

-- That of the example; null in an unknown zone.
CREATE FUNCTION feed.local_time(instant timestamptz, zone text) RETURNS text LANGUAGE sql STABLE AS $$
  SELECT to_char(instant AT TIME ZONE zone, 'YYYY-MM-DD"T"HH24:MI:SS')
    || CASE WHEN instant AT TIME ZONE zone < instant AT TIME ZONE 'UTC' THEN '-' ELSE '+' END
    || to_char(greatest(instant AT TIME ZONE zone, instant AT TIME ZONE 'UTC')
             - least(instant AT TIME ZONE zone, instant AT TIME ZONE 'UTC'), 'HH24:MI')
  FROM feed.time_zones WHERE name = zone
$$;
