/** Table of docs/operations/security.md: permissions of each account with their purpose, from docs/operations/permissions.md. */
import { readFileSync } from 'node:fs'
import { isMap, isSeq, parseAllDocuments } from 'yaml'
import { code, table } from './reference/markdown.ts'

const page = 'docs/operations/security.md'
const source = 'docs/operations/permissions.md'

/** Accounts of processes, by role name. Roles that are not listed here appear with their own name. */
const accounts: Readonly<Record<string, string>> = {
  'tranche-controller': 'controller',
  'tranche-executor': 'executor',
  'tranche-api': 'REST API',
  'tranche-admission': 'controller, with `admission: policy` or `webhook`',
  'tranche-webhook': 'controller, with `admission: webhook` and its own certificate',
  'tranche-config': 'controller, with `--read-config`',
  'tranche-groups': 'controller, with `--group-namespace`',
  'tranche-room': 'executor, with `--room`',
  'tranche-pre-pull': 'executor, with `--pre-pull`',
  'tranche-drain': 'executor, with `--drain-namespace`',
  'tranche-drain-conditions': 'executor, with `--drain-conditions`',
  'tranche-node-locks': 'executor, with `--lock-namespace`',
  'tranche-config-pin': 'controller, with `--pin-config`',
  'tranche-pod-policy': 'controller, with `--pin-config`',
  'tranche-secret-pin': 'controller, with `--pin-secret-namespace`',
  'tranche-test': '`helm test`, while it runs',
}

/** Roles of users and other programs, and roles that users write with their own names. */
const others = /^tranche-(cli-|aggregate-|(viewer|approver|operator|metrics|secrets|hooks)$)/

/** Permission of an account with its purpose. */
export interface AccountRule extends Rule {
  /** Permission as text. */
  readonly account: string
  /** Namespace; empty for the whole cluster. */
  readonly namespace: string
  /** Comment above the rule. */
  readonly why: string
}

interface Role {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly rules: readonly Rule[]
}

/** @see rbac/v1 PolicyRule */
export interface Rule {
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly verbs: readonly string[]
}

/** @returns docs/operations/security.md with the table of the permissions; the text around it is unchanged */
export function writtenSecurity(): { readonly path: string; readonly text: string } {
  const text = readFileSync(page, 'utf8').replace(
    /(<!-- accounts -->\n)[\s\S]*?(<!-- end -->)/,
    (_all, begin: string, end: string) => `${begin}\n${table(['account', 'may', 'on', 'why'], accountRows())}\n\n${end}`,
  )
  return { path: page, text }
}

/** @returns every rule of the processes' accounts in docs/operations/permissions.md */
export function accountRules(): readonly AccountRule[] {
  const blocks = [...readFileSync(source, 'utf8').matchAll(/^```yaml\n([\s\S]*?)^```/gm)]
  return blocks.flatMap(([, text = '']) =>
    parseAllDocuments(text).flatMap((document) => {
      const { kind, metadata, rules } = document.toJS() as Role
      if (others.test(metadata.name)) return []
      const account = accounts[metadata.name] ?? metadata.name
      const comments = commentsOf(document.get('rules'))
      const namespace = kind === 'Role' ? (metadata.namespace ?? '') : ''
      return rules.map((rule, at) => {
        // A comment applies to the rule below it and the following rules.
        const why = comments.slice(0, at + 1).findLast((comment) => comment !== '') ?? ''
        return { ...rule, account, namespace, why }
      })
    }),
  )
}

function accountRows(): readonly (readonly string[])[] {
  return accountRules().map(({ account, namespace, apiGroups, resources, resourceNames, verbs, why }) => {
    const names = resourceNames === undefined ? '' : `, named ${resourceNames.map(code).join(', ')}`
    const where = namespace === '' ? '' : `, in ${code(namespace)} alone`
    const things = resources.map((resource) => code(resourceText(resource, apiGroups[0] ?? '')))
    return [account, verbs.join(', '), `${things.join(', ')}${names}${where}`, why]
  })
}

/** Resource as in kubectl, with the subresource at the end. */
function resourceText(resource: string, group: string): string {
  const [plural = '', ...rest] = resource.split('/')
  return [group === '' ? plural : `${plural}.${group}`, ...rest].join('/')
}

/** The parser attaches a comment above the first item to the list. */
function commentsOf(rules: unknown): readonly string[] {
  if (!isSeq(rules)) return []
  return rules.items.map((item, at) => {
    const own = isMap(item) ? item.commentBefore : undefined
    return (own ?? (at === 0 ? rules.commentBefore : undefined) ?? '').replaceAll(/\s+/g, ' ').trim()
  })
}
