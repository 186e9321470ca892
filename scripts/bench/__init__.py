"""What ./wcb bench is made of. options.py is read before the set-up and needs the standard library only; the rest runs after it,
with packages that every set-up brings ("base" in requirements.txt)."""
