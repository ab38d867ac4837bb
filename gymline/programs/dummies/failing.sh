#!/bin/sh
# A program that fails and says nothing.
set -eu
printf '#!/bin/sh\nexit 1\n' > executable
chmod 755 executable
