# construct: environment
env GREETING=there sh greet.sh > b
