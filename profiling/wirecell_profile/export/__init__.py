"""Output in other formats: all tables, Chrome traces, merged profiles."""
