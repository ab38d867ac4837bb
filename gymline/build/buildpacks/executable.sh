
# The program among the products.
rm -rf ./executable
install -m 0755 -- @PRODUCT@ ./executable
