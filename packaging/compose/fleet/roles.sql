-- The role of the daemons of packaging/compose.fleet.yaml. tranche journal prepare grants it what it needs.
CREATE ROLE trader LOGIN;
