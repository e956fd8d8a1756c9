// Takes queries out of text before it is logged, traced or shown: on native routes a query may hold a key.
// It must not know routes.

/** A request target without its query and fragment. */
export const queryless = (target: string): string => {
  const at = target.search(/[?#]/)
  return at < 0 ? target : target.slice(0, at)
}

/** Parameters that hold a credential, wherever in a text they stand: `?key=`, `&access_token=`, encoded or not. */
const credentials =
  /((?:[?&]|%3f|%26|\b)(?:key|api[_-]?key|access[_-]?token|auth[_-]?token)(?:=|%3d))[^\s&#"'<>\\)\]}]+/gi

/** The text with the values of credential parameters replaced. */
export const withoutQueryKeys = (text: string): string =>
  /=|%3d/i.test(text) ? text.replace(credentials, "$1[redacted]") : text
