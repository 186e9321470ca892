"""Self-contained HTML pages: profiles, comparisons and histories."""
