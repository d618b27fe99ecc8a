import { readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'

const PAGE = 'docs/operations/permissions.md'

/** Where a rule applies: a ClusterRole, or a Role in one namespace. */
type RoleKind = 'ClusterRole' | 'Role'

/** The rules of one role, as RBAC has them. */
export type Rules = readonly Readonly<Record<string, readonly string[]>>[]

interface RoleOfPage {
  readonly kind: RoleKind
  readonly metadata: { readonly name: string }
  readonly rules: Rules
}

/**
 * What docs/operations/permissions.md grants, by kind and name: `{ClusterRole: {'tranche-controller': […]}, Role: …}`. The chart
 * grants exactly that, under names of its release.
 *
 * @throws {Error} where the page has two roles of one kind and name
 */
export function chartRules(): Readonly<Record<RoleKind, Readonly<Record<string, Rules>>>> {
  const rules: Record<RoleKind, Record<string, Rules>> = { ClusterRole: {}, Role: {} }
  for (const { kind, metadata, rules: own } of rolesOfPage()) {
    if (rules[kind][metadata.name] !== undefined) throw new Error(`${PAGE} has two of ${kind} ${metadata.name}`)
    rules[kind][metadata.name] = own
  }
  return rules
}

function rolesOfPage(): readonly RoleOfPage[] {
  const blocks = readFileSync(PAGE, 'utf8').matchAll(/^```yaml\n([\s\S]*?)^```/gm)
  return [...blocks].flatMap(([, text = '']) => parseAllDocuments(text).map((document) => document.toJS() as RoleOfPage))
}
