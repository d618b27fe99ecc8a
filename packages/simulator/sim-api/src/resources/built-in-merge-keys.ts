import { definitionOf, type FieldType, findBuiltinKind } from '../schema/builtin-definitions.ts'
import { listMergeOf } from '../schema/merge-keys.ts'
import type { MergeKeys } from '../model/resource-definition.ts'

/** @returns merge keys of a built-in kind's lists for strategic merge patches; atomic lists for other kinds */
export function builtInMergeKeys(group: string, version: string, kind: string): MergeKeys {
  const root = findBuiltinKind(group, version, kind)?.definition
  return (path) => {
    const holder = root === undefined ? undefined : holderOf(root, path)
    const merge = holder === undefined ? undefined : listMergeOf(holder, path.at(-1)!)
    if (merge === undefined) return 'atomic'
    return merge.key === undefined ? 'set' : { key: merge.key }
  }
}

/** @returns name of the definition that contains the last field of the path; undefined for an unknown path */
function holderOf(root: string, path: readonly string[]): string | undefined {
  let holder: string | undefined = root
  for (const field of path.slice(0, -1)) {
    if (holder === undefined) return undefined
    const found = definitionOf(holder).fields.get(field)
    holder = found === undefined ? undefined : definitionIn(found.type)
  }
  return holder
}

function definitionIn(type: FieldType): string | undefined {
  if (type.kind === 'definition') return type.definition
  return type.kind === 'scalar' ? undefined : definitionIn(type.of)
}
