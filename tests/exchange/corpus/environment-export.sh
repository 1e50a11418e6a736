# construct: environment
export GREETING=hi; sh greet.sh > b; cp b c
