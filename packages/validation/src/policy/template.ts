/** A name between two pairs of braces; spaces may stand around it. */
const placeholder = /\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}/g

/**
 * Puts values in the places of their names: `{{canaryRevision}}`. A name without a value stays as it stands.
 *
 * @param encode makes a value fit for where it is put, such as `encodeURIComponent` in a URL
 */
export function fillTemplate(
  text: string,
  values: Readonly<Record<string, string>>,
  encode: (value: string) => string = (value) => value,
): string {
  return text.replace(placeholder, (whole, name: string) => (Object.hasOwn(values, name) ? encode(values[name]!) : whole))
}

/** What is wrong with the braces of a text. */
export interface TemplateFault {
  readonly message: string
  readonly fix: string
}

/** @returns one fault for each name that is not among `names`, and for braces without a name; empty when all can be filled */
export function templateFaults(text: string, names: readonly string[]): readonly TemplateFault[] {
  const used = new Set([...text.matchAll(placeholder)].map(([, name]) => name ?? ''))
  const unknown = [...used].filter((name) => !names.includes(name))
  const isOpen = text.replace(placeholder, '').includes('{{')
  return [
    ...unknown.map((name) => ({
      message: `there is no argument ${name}`,
      fix: `name one of ${names.join(', ')}, or remove {{${name}}}`,
    })),
    ...(isOpen ? [{ message: 'a {{ is not followed by a name and }}', fix: 'close it, such as {{canaryRevision}}, or remove it' }] : []),
  ]
}
