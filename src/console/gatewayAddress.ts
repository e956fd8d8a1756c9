// The address of the gateway as this page sees it, also below a prefix of a reverse proxy.
// It must not know routes.

/** The script of the page is at `/console/assets/` of the gateway. */
export const gatewayAddress = new URL("../..", import.meta.url).href.replace(/\/$/, "")
