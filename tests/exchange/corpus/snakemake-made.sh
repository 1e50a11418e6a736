# construct: manager
# shells: dash
# needs: snakemake
# whole: no
exec snakemake -c1 -q -s Snakefile.m
