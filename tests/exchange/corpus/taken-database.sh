# construct: taken
# taken: db
# needs: sqlite3
sqlite3 db 'create table t(x); insert into t values (1)'
sqlite3 db 'select x from t' > list
