/**
 * @param name a field in JSON
 * @returns how an expression names it: `x-y` as `x__dash__y`, `namespace` as `__namespace__`; undefined for a field that
 * expressions cannot name
 * @see Kubernetes documentation, "Validation rules", escaping
 */
export function celFieldName(name: string): string | undefined {
  if (reserved.has(name)) return `__${name}__`
  const escaped = name.replace(/__|[.\-/]/g, (part) => escapes.get(part)!)
  return /^[A-Za-z_]\w*$/.test(escaped) ? escaped : undefined
}

const escapes: ReadonlyMap<string, string> = new Map(
  Object.entries({ __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' }),
)

const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)
