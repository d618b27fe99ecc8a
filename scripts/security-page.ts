/** The table of docs/operations/security.md: what each account may do, and why, as docs/operations/permissions.md grants it. */
import { readFileSync } from 'node:fs'
import { isMap, isSeq, parseAllDocuments } from 'yaml'
import { code, table } from './reference/markdown.ts'

const page = 'docs/operations/security.md'
const source = 'docs/operations/permissions.md'

/** The accounts of processes; what else stands in the source is for people and for what is chosen. */
const accounts: Readonly<Record<string, string>> = {
  'tranche-controller': 'controller',
  'tranche-executor': 'executor',
  'tranche-api': 'REST API',
  'tranche-admission': 'controller, with `admission: policy`',
}

interface Role {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules: readonly Rule[]
}

interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

/** @returns docs/operations/security.md with the table as the permissions are; what stands around it is left alone */
export function writtenSecurity(): { readonly path: string; readonly text: string } {
  const text = readFileSync(page, 'utf8').replace(
    /(<!-- accounts -->\n)[\s\S]*?(<!-- end -->)/,
    (_all, begin: string, end: string) => `${begin}\n${table(['account', 'may', 'on', 'why'], accountRows())}\n\n${end}`,
  )
  return { path: page, text }
}

function accountRows(): readonly (readonly string[])[] {
  const blocks = [...readFileSync(source, 'utf8').matchAll(/^```yaml\n([\s\S]*?)^```/gm)]
  return blocks.flatMap(([, text = '']) =>
    parseAllDocuments(text).flatMap((document) => {
      const role = document.toJS() as Role
      const account = accounts[role.metadata.name]
      return account === undefined ? [] : rowsOf(role, account, commentsOf(document.get('rules')))
    }),
  )
}

function rowsOf({ kind, metadata, rules }: Role, account: string, comments: readonly string[]): readonly (readonly string[])[] {
  return rules.map(({ apiGroups, resources, resourceNames, verbs }, at) => {
    const names = resourceNames === undefined ? '' : `, named ${resourceNames.map(code).join(', ')}`
    const where = kind === 'Role' ? `, in ${code(metadata.namespace ?? '')} alone` : ''
    const things = resources.map((resource) => code(resourceText(resource, apiGroups[0] ?? '')))
    const why = comments.slice(0, at + 1).findLast((comment) => comment !== '') ?? ''
    return [account, verbs.join(', '), `${things.join(', ')}${names}${where}`, why]
  })
}

/** As kubectl names it, with the subresource at the end. */
function resourceText(resource: string, group: string): string {
  const [plural = '', ...rest] = resource.split('/')
  return [group === '' ? plural : `${plural}.${group}`, ...rest].join('/')
}

/** The parser has a comment above the first item of a list as one of the list. */
function commentsOf(rules: unknown): readonly string[] {
  if (!isSeq(rules)) return []
  return rules.items.map((item, at) => {
    const own = isMap(item) ? item.commentBefore : undefined
    return (own ?? (at === 0 ? rules.commentBefore : undefined) ?? '').replaceAll(/\s+/g, ' ').trim()
  })
}
