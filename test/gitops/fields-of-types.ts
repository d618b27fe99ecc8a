import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const require = createRequire(import.meta.url)

/**
 * Names fields of a manifest that its type does not have, by path. The validators of these packages check values, and ignore unknown
 * names; an API server silently drops such a field.
 *
 * @param library `@kubernetes-models/argo-cd`, or a similar one
 */
export function unknownFields(manifest: { readonly apiVersion: string; readonly kind: string }, library: string): readonly string[] {
  const file = join(dirname(require.resolve(`${library}/package.json`)), manifest.apiVersion, `${manifest.kind}.d.ts`)
  return unknownIn(manifest, { file, name: `I${manifest.kind}` }, '')
}

/** An interface, and the file that declares it. */
interface NamedType {
  readonly file: string
  readonly name: string
}

function unknownIn(value: unknown, type: NamedType, path: string): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item, at) => unknownIn(item, type, `${path}[${at}]`))
  if (typeof value !== 'object' || value === null) return []
  const fields = fieldsOf(type)
  return Object.entries(value).flatMap(([name, member]) => {
    const here = path === '' ? name : `${path}.${name}`
    const text = fields.get(name)
    if (text === undefined) return [here]
    const next = namedIn(text, type.file)
    return next === undefined ? [] : unknownIn(member, next, here)
  })
}

/** Fields of an interface with their types as written, one per line, indented by four spaces; includes fields of its parents. */
function fieldsOf({ file, name }: NamedType): ReadonlyMap<string, string> {
  const text = readFileSync(file, 'utf8')
  const own = new RegExp(`\\b(\\w+) as ${name}\\b`).exec(text)?.[1] ?? name
  const [, list] = new RegExp(`^export type ${own} = (.*)$`, 'm').exec(text) ?? []
  const item = list === undefined ? undefined : namedIn(list, file)
  if (item !== undefined) return fieldsOf(item)
  const [, parents = '', body] = new RegExp(`^export interface ${own}(?: extends ([^{]*))? \\{\\n([\\s\\S]*?)^\\}`, 'm').exec(text) ?? []
  if (body === undefined) throw new Error(`${file} has no interface ${name}`)
  const inherited = parents.split(', ').flatMap((parent) => namedIn(`${parent};`, file) ?? [])
  const fields = [...body.matchAll(/^ {4}"([^"]+)"\??: (.*)$/gm)].map(([, field = '', type = '']) => [field, type] as const)
  return new Map([...inherited.flatMap((parent) => [...fieldsOf(parent)]), ...fields])
}

/** The interface of the library that a type refers to; undefined for anything else: text, a map, metadata of Kubernetes. */
function namedIn(text: string, file: string): NamedType | undefined {
  const name = /^(?:Array<)?(I[A-Z]\w+)>?;$/.exec(text)?.[1]
  if (name === undefined) return undefined
  const from = new RegExp(`import \\{[^}]*\\b${name}\\b[^}]*\\} from "(\\.[^"]+)\\.js"`).exec(readFileSync(file, 'utf8'))?.[1]
  return from === undefined ? undefined : { file: join(dirname(file), `${from}.d.ts`), name }
}
