# construct: links
# tar opens each link that it extracts itself (O_PATH, O_NOFOLLOW): what it leads to is none that was there before.
mkdir root; cp header root/z; ln -s z root/a; tar --sort=name -cf p.tar --mtime=@0 root; rm -r root
if mkdir x 2>/dev/null; then echo new; else echo old; fi > res; tar -xf p.tar -C x; cat x/root/a body > joined
