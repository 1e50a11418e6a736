# construct: link
cp in.txt b; ln b c; stat -c %h b > n1; rm c; stat -c %h b > n2
