#!/bin/sh
# A program that succeeds and says nothing.
set -eu
printf '#!/bin/sh\nexit 0\n' > executable
chmod 755 executable
