"""Profile files as columns: tables, events, node calls, their joins, and selections of them."""
