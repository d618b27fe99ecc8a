import { type Body, valueAt } from './body.ts'

/** One entry of `metadata.managedFields`. */
export interface ManagedFields {
  readonly manager: string
  readonly operation: 'Apply' | 'Update'
  readonly apiVersion: string
  readonly time?: string
  readonly subresource?: string
  readonly fieldsType: string
  readonly fieldsV1: object
}

/** @returns who owns what of an object: `Apply ci` or `Update kubelet status`, with the fields that are theirs, in the order of the object */
export function ownersOf(object: Body): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    managedFieldsOf(object).map(({ manager, operation, subresource, fieldsV1 }) => [
      [operation, manager, subresource].filter(Boolean).join(' '),
      pathsOf(fieldsV1),
    ]),
  )
}

/** @returns `metadata.managedFields` of an object; empty where it has none */
export function managedFieldsOf(object: Body): readonly ManagedFields[] {
  return (valueAt(object, 'metadata.managedFields') ?? []) as readonly ManagedFields[]
}

/** Each field that is owned, as `spec.containers[name=main].image`; an object or item that is owned as such ends in `.`. */
function pathsOf(fields: object, path = ''): readonly string[] {
  const entries = Object.entries(fields) as readonly (readonly [string, object])[]
  if (entries.length === 0) return [path]
  return entries.flatMap(([element, below]) => (element === '.' ? [`${path}.`] : pathsOf(below, `${path}${elementText(element, path)}`)))
}

function elementText(element: string, path: string): string {
  const rest = element.slice(2)
  if (element.startsWith('f:')) return path === '' ? rest : `.${rest}`
  if (element.startsWith('v:')) return `[${rest}]`
  const keys = Object.entries(JSON.parse(rest) as Readonly<Record<string, unknown>>)
  return `[${keys.map(([key, value]) => `${key}=${String(value)}`).join(',')}]`
}
