/** Arguments that a notification template can use. */
export const notifyArguments = [
  'event',
  'rollout',
  'namespace',
  'revision',
  'step',
  'nodes',
  'message',
  'at',
  'receiver',
  'id',
  'dropped',
] as const
/** @see notifyArguments */
export type NotifyArgument = (typeof notifyArguments)[number]

const PLACE = /\{\{\s*([A-Za-z][A-Za-z0-9_]*)\s*\}\}/g

/** @returns the names in `{{name}}`, each once, in order */
export function templateArguments(template: string): readonly string[] {
  return [...new Set([...template.matchAll(PLACE)].map((match) => match[1] ?? ''))]
}

/** @returns each `{{…` or `}}` that is not part of a valid `{{name}}`, in order */
export function templateLeavings(template: string): readonly string[] {
  return [...template.replaceAll(PLACE, '').matchAll(/\{\{[^{}]*|\}\}/g)].map(([found]) => found)
}

/**
 * Replaces each `{{name}}` with its argument. A name without an argument stays unchanged; substituted text is not expanded again.
 *
 * @param encode escapes an argument for its context, such as `encodeURIComponent` in a URL
 */
export function fillTemplate(
  template: string,
  args: Readonly<Record<string, string>>,
  encode: (argument: string) => string = (argument) => argument,
): string {
  return template.replaceAll(PLACE, (place, name: string) => (Object.hasOwn(args, name) ? encode(args[name] ?? '') : place))
}

/** @returns the length of the result of {@link fillTemplate}, in characters, without building it */
export function filledLength(
  template: string,
  args: Readonly<Record<string, string>>,
  encode: (argument: string) => string = (argument) => argument,
): number {
  const lengths = new Map<string, number>()
  const lengthOf = (name: string): number => {
    const known = lengths.get(name)
    if (known !== undefined) return known
    const length = encode(args[name] ?? '').length
    lengths.set(name, length)
    return length
  }
  let total = template.length
  for (const [place, name = ''] of template.matchAll(PLACE)) if (Object.hasOwn(args, name)) total += lengthOf(name) - place.length
  return total
}
