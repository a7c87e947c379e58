-- The database of a ticketing company, as the example reads it. Several organizations share the tables.
-- It does not depend on Foyer: views.sql and changes.sql add the feed in a schema of its own.
\set ON_ERROR_STOP on
BEGIN;

CREATE TABLE organizations (
  id   text PRIMARY KEY,
  name text NOT NULL
);

-- A venue without address lines is held as legacy free text, in its name.
CREATE TABLE venues (
  id              text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations,
  name            text NOT NULL,
  address_line1   text,
  address_line2   text,
  city            text,
  postal_code     text,
  country_code    text,
  CHECK (num_nulls(address_line1, city, postal_code, country_code) IN (0, 4))
);

CREATE TABLE tags (
  id              text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations,
  name            text NOT NULL,
  UNIQUE (organization_id, name)
);

CREATE TABLE events (
  id              text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations,
  venue_id        text REFERENCES venues,
  title           text NOT NULL,
  description     text,
  image_url       text,
  time_zone       text NOT NULL,
  currency        text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON events (venue_id);

CREATE TABLE event_tags (
  event_id text REFERENCES events ON DELETE CASCADE,
  position integer,
  tag_id   text NOT NULL REFERENCES tags,
  PRIMARY KEY (event_id, position)
);
CREATE INDEX ON event_tags (tag_id);

CREATE TABLE event_sessions (
  id               text PRIMARY KEY,
  organization_id  text NOT NULL REFERENCES organizations,
  event_id         text NOT NULL REFERENCES events,
  start_at         timestamptz NOT NULL,
  duration_minutes integer NOT NULL
);
CREATE INDEX ON event_sessions (event_id);

-- The catalog. The columns after created_at belong to the type of the offer.
CREATE TABLE offers (
  id                       text PRIMARY KEY,
  organization_id          text NOT NULL REFERENCES organizations,
  type                     text NOT NULL CHECK (type IN ('TICKET', 'PRODUCT', 'BUNDLE')),
  name                     text NOT NULL,
  description              text,
  currency                 text NOT NULL,
  image_urls               text[] NOT NULL DEFAULT '{}',
  min_quantity             integer NOT NULL DEFAULT 1,
  max_quantity             integer NOT NULL,
  compare_at_price         numeric(12, 2),
  created_at               timestamptz NOT NULL DEFAULT now(),
  vat_rate                 numeric(5, 4),
  event_id                 text REFERENCES events,
  default_maximum_capacity integer,
  attendee_form_id         text,
  default_quantity         integer,
  option1_label            text,
  option2_label            text,
  option3_label            text,
  bundle_pricing_id        text,
  bundle_price             numeric(12, 2),
  CHECK ((type = 'TICKET') = (event_id IS NOT NULL)),
  CHECK ((type = 'TICKET') = (default_maximum_capacity IS NOT NULL)),
  CHECK ((type = 'PRODUCT') = (default_quantity IS NOT NULL)),
  CHECK ((type = 'BUNDLE') = (bundle_pricing_id IS NOT NULL)),
  CHECK ((type = 'BUNDLE') = (bundle_price IS NOT NULL)),
  CHECK ((type = 'BUNDLE') = (vat_rate IS NULL))
);

CREATE TABLE offer_tags (
  offer_id text REFERENCES offers ON DELETE CASCADE,
  position integer,
  tag_id   text NOT NULL REFERENCES tags,
  PRIMARY KEY (offer_id, position)
);
CREATE INDEX ON offer_tags (tag_id);

-- The events that hold a product or a bundle.
CREATE TABLE offer_events (
  offer_id text REFERENCES offers ON DELETE CASCADE,
  event_id text REFERENCES events,
  PRIMARY KEY (offer_id, event_id)
);

-- The prices of ticket offers and products; with bundle_id, a price within that bundle.
CREATE TABLE pricings (
  id             text PRIMARY KEY,
  offer_id       text NOT NULL REFERENCES offers ON DELETE CASCADE,
  position       integer NOT NULL,
  name           text NOT NULL,
  price          numeric(12, 2) NOT NULL,
  bundle_id      text REFERENCES offers,
  resale_enabled boolean NOT NULL DEFAULT false,
  UNIQUE (offer_id, id)
);

-- The pricings of other offers that are sold with a ticket offer.
CREATE TABLE offer_options (
  offer_id        text REFERENCES offers ON DELETE CASCADE,
  position        integer,
  option_offer_id text NOT NULL,
  pricing_id      text NOT NULL,
  PRIMARY KEY (offer_id, position),
  FOREIGN KEY (option_offer_id, pricing_id) REFERENCES pricings (offer_id, id)
);

-- Stock: of a ticket offer for each session, of a product for each variant.
CREATE TABLE inventory (
  id              text PRIMARY KEY,
  offer_id        text NOT NULL REFERENCES offers ON DELETE CASCADE,
  position        integer NOT NULL,
  session_id      text REFERENCES event_sessions,
  option1         text,
  option2         text,
  option3         text,
  weight_in_grams integer,
  total_stock     integer NOT NULL,
  available_stock integer NOT NULL CHECK (available_stock >= 0),
  UNIQUE (offer_id, id),
  CHECK ((session_id IS NULL) = (weight_in_grams IS NOT NULL))
);

CREATE TABLE bundle_contents (
  bundle_id text REFERENCES offers ON DELETE CASCADE,
  position  integer,
  offer_id  text NOT NULL REFERENCES offers,
  quantity  integer NOT NULL,
  price     numeric(12, 2) NOT NULL,
  PRIMARY KEY (bundle_id, position)
);

-- Sales.
CREATE TABLE customers (
  organization_id text REFERENCES organizations,
  id              text,
  email           text NOT NULL,
  first_name      text,
  last_name       text,
  PRIMARY KEY (organization_id, id)
);

CREATE TABLE sales_channels (
  organization_id  text REFERENCES organizations,
  id               text,
  name             text NOT NULL,
  issuance_channel text NOT NULL,
  PRIMARY KEY (organization_id, id)
);

CREATE TABLE pickup_points (
  organization_id text REFERENCES organizations,
  id              text,
  name            text NOT NULL,
  address_line1   text NOT NULL,
  city            text NOT NULL,
  postal_code     text NOT NULL,
  country_code    text NOT NULL,
  PRIMARY KEY (organization_id, id)
);

CREATE TABLE services (
  organization_id text REFERENCES organizations,
  id              text,
  category        text NOT NULL,
  name            text NOT NULL,
  PRIMARY KEY (organization_id, id)
);

CREATE TABLE orders (
  id                text PRIMARY KEY,
  organization_id   text NOT NULL REFERENCES organizations,
  number            text NOT NULL,
  invoice_reference text,
  customer_id       text NOT NULL,
  sales_channel_id  text NOT NULL,
  status            text NOT NULL CHECK (status IN ('PENDING', 'FULFILLED', 'CANCELLED')),
  payment_status    text NOT NULL,
  payment_provider  text,
  payment_method    text,
  currency          text NOT NULL,
  discount_code     text,
  service_fees      numeric(12, 2) NOT NULL,
  delivery_fees     numeric(12, 2) NOT NULL,
  delivery_type     text NOT NULL CHECK (delivery_type IN ('home_delivery', 'pickup_point', 'on_site')),
  carrier_id        text,
  pickup_point_id   text,
  created_at        timestamptz NOT NULL DEFAULT now(),
  fulfilled_at      timestamptz,
  cancelled_at      timestamptz,
  updated_at        timestamptz NOT NULL DEFAULT now(),
  UNIQUE (organization_id, number),
  FOREIGN KEY (organization_id, customer_id) REFERENCES customers,
  FOREIGN KEY (organization_id, sales_channel_id) REFERENCES sales_channels,
  FOREIGN KEY (organization_id, pickup_point_id) REFERENCES pickup_points
);
CREATE INDEX ON orders (organization_id, customer_id);
CREATE INDEX ON orders (organization_id, sales_channel_id);
CREATE INDEX ON orders (organization_id, pickup_point_id);

CREATE TABLE order_addresses (
  order_id      text REFERENCES orders ON DELETE CASCADE,
  role          text CHECK (role IN ('billing', 'delivery')),
  type          text NOT NULL CHECK (type IN ('personal', 'company')),
  first_name    text,
  last_name     text,
  company_name  text,
  vat_number    text,
  phone         text,
  address_line1 text NOT NULL,
  address_line2 text,
  city          text NOT NULL,
  postal_code   text NOT NULL,
  country_code  text NOT NULL,
  PRIMARY KEY (order_id, role)
);

-- Names and prices are those of the time of the sale.
CREATE TABLE order_items (
  id            bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,
  order_id      text NOT NULL REFERENCES orders ON DELETE CASCADE,
  position      integer NOT NULL,
  offer_id      text NOT NULL,
  inventory_id  text NOT NULL,
  session_id    text REFERENCES event_sessions,
  offer_name    text NOT NULL,
  price_label   text NOT NULL,
  quantity      integer NOT NULL,
  unit_price    numeric(12, 2) NOT NULL,
  unit_discount numeric(12, 2) NOT NULL,
  unit_vat      numeric(12, 2) NOT NULL,
  FOREIGN KEY (offer_id, inventory_id) REFERENCES inventory (offer_id, id)
);
CREATE INDEX ON order_items (order_id);
CREATE INDEX ON order_items (session_id);

CREATE TABLE order_opt_ins (
  order_id text REFERENCES orders ON DELETE CASCADE,
  position integer,
  name     text NOT NULL,
  accepted boolean NOT NULL,
  PRIMARY KEY (order_id, position)
);

CREATE TABLE order_add_ons (
  order_id        text REFERENCES orders ON DELETE CASCADE,
  position        integer,
  organization_id text NOT NULL,
  service_id      text NOT NULL,
  price           numeric(12, 2) NOT NULL,
  PRIMARY KEY (order_id, position),
  FOREIGN KEY (organization_id, service_id) REFERENCES services
);
CREATE INDEX ON order_add_ons (organization_id, service_id);

CREATE TABLE refunds (
  id          bigint PRIMARY KEY GENERATED BY DEFAULT AS IDENTITY,
  order_id    text NOT NULL REFERENCES orders ON DELETE CASCADE,
  amount      numeric(12, 2) NOT NULL,
  refunded_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX ON refunds (order_id);

CREATE TABLE tickets (
  id              text PRIMARY KEY,
  organization_id text NOT NULL REFERENCES organizations,
  order_item_id   bigint NOT NULL REFERENCES order_items ON DELETE CASCADE,
  status          text NOT NULL,
  qr_code         text NOT NULL UNIQUE,
  bloc            text,
  seat_row        text,
  seat_number     text,
  transferable    boolean NOT NULL,
  issued_at       timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  cancelled_at    timestamptz
);
CREATE INDEX ON tickets (order_item_id);

CREATE TABLE attendee_forms (
  ticket_id    text PRIMARY KEY REFERENCES tickets ON DELETE CASCADE,
  form_id      text NOT NULL,
  submitted_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE attendee_answers (
  ticket_id text REFERENCES attendee_forms ON DELETE CASCADE,
  position  integer,
  field_id  text NOT NULL,
  answers   text[] NOT NULL,
  PRIMARY KEY (ticket_id, position)
);

COMMIT;
