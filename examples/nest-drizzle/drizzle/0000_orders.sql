create table items (
  name text primary key,
  in_stock integer not null
);
--> statement-breakpoint
insert into items (name, in_stock) values ('tea', 1000), ('first edition', 0);
--> statement-breakpoint
create table orders (
  id uuid primary key default gen_random_uuid(),
  customer text not null,
  item text not null references items,
  paid_at timestamptz
);
