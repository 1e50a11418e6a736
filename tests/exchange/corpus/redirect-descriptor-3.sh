# construct: redirect-descriptor
sh tool3.sh 3> three
