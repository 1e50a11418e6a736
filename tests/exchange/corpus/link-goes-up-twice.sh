# construct: link
sh -c "mkdir -p app/rel/r1 app/sh; ln -s ../../sh app/rel/r1/log; cp in.txt app/sh/x"
sh -c "ls app/rel/r1/log/ >l; mv app srv"
