import { listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { type Attributes, combinedResource, type PathAttributes, type ResourceAttributes } from './attributes.ts'

/** @see rbac/v1 PolicyRule; missing lists are empty */
export interface PolicyRule {
  readonly verbs: readonly string[]
  readonly apiGroups: readonly string[]
  readonly resources: readonly string[]
  readonly resourceNames: readonly string[]
  readonly nonResourceURLs: readonly string[]
}

/** All rights: required to grant a role whose rules are unknown. */
export const fullAuthority: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
]

/** @returns rules of a role as stored */
export function readRules(rules: unknown): readonly PolicyRule[] {
  return listOrEmpty(rules).map((entry) => {
    const rule = objectOrEmpty(entry)
    const words = (field: string): readonly string[] => listOrEmpty(rule[field]).map(String)
    return {
      verbs: words('verbs'),
      apiGroups: words('apiGroups'),
      resources: words('resources'),
      resourceNames: words('resourceNames'),
      nonResourceURLs: words('nonResourceURLs'),
    }
  })
}

/** @returns whether the rule allows the request */
export function ruleAllows(rule: PolicyRule, attributes: Attributes): boolean {
  if (!hasOrAll(rule.verbs, attributes.verb)) return false
  return attributes.kind === 'path' ? allowsPath(rule, attributes) : allowsResource(rule, attributes)
}

/** @returns rights in `wanted` that `held` lacks, in the smallest pieces */
export function uncoveredRules(held: readonly PolicyRule[], wanted: readonly PolicyRule[]): readonly PolicyRule[] {
  return wanted.flatMap(piecesOf).filter((piece) => !held.some((rule) => covers(rule, piece)))
}

/** @returns rules as a refusal lists them: verbs grouped by resource, sorted, one per line */
export function rulesText(rules: readonly PolicyRule[]): string {
  const merged = new Map<string, PolicyRule>()
  for (const rule of rules) {
    const isSimple = rule.resources.length === 1 && rule.resourceNames.length === 0 && rule.nonResourceURLs.length === 0
    const key = isSimple ? `${rule.apiGroups[0]}\0${rule.resources[0]}` : JSON.stringify(rule)
    const known = merged.get(key)
    merged.set(key, known === undefined || !isSimple ? rule : { ...known, verbs: [...known.verbs, ...rule.verbs] })
  }
  return [...merged.values()].map(ruleText).sort().join('\n')
}

/** @returns list in the format of refusals: `["a" "b"]` */
export function wordsText(words: readonly string[]): string {
  return `[${words.map((word) => JSON.stringify(word)).join(' ')}]`
}

function allowsResource(rule: PolicyRule, attributes: ResourceAttributes): boolean {
  const { resourceNames } = rule
  const isNamed = resourceNames.length === 0 || resourceNames.includes(attributes.name ?? '')
  return isNamed && hasOrAll(rule.apiGroups, attributes.group) && coversResource(rule.resources, combinedResource(attributes))
}

function allowsPath(rule: PolicyRule, { path }: PathAttributes): boolean {
  return rule.nonResourceURLs.some((url) => coversUrl(url, path))
}

/** A star matches everything; a star before the slash matches this subresource of everything. */
function coversResource(resources: readonly string[], resource: string): boolean {
  if (hasOrAll(resources, resource)) return true
  const slash = resource.indexOf('/')
  return slash !== -1 && resources.includes(`*${resource.slice(slash)}`)
}

function coversUrl(url: string, path: string): boolean {
  return url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.replace(/\*+$/, '')))
}

function hasOrAll(words: readonly string[], word: string): boolean {
  return words.includes('*') || words.includes(word)
}

function piecesOf(rule: PolicyRule): readonly PolicyRule[] {
  const none = { apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: [] }
  const names = rule.resourceNames.length === 0 ? [[]] : rule.resourceNames.map((name) => [name])
  return rule.verbs.flatMap((verb) => [
    ...rule.apiGroups.flatMap((group) =>
      rule.resources.flatMap((resource) =>
        names.map((resourceNames) => ({ ...none, verbs: [verb], apiGroups: [group], resources: [resource], resourceNames })),
      ),
    ),
    ...rule.nonResourceURLs.map((url) => ({ ...none, verbs: [verb], nonResourceURLs: [url] })),
  ])
}

/** @param piece with at most one word in each list */
function covers(rule: PolicyRule, piece: PolicyRule): boolean {
  if (!hasOrAll(rule.verbs, piece.verbs[0]!)) return false
  const [url] = piece.nonResourceURLs
  if (url !== undefined) return rule.nonResourceURLs.some((own) => coversUrl(own, url))
  const [name] = piece.resourceNames
  const isNamed = rule.resourceNames.length === 0 || (name !== undefined && rule.resourceNames.includes(name))
  return isNamed && hasOrAll(rule.apiGroups, piece.apiGroups[0]!) && coversResource(rule.resources, piece.resources[0]!)
}

function ruleText(rule: PolicyRule): string {
  const parts = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ] as const
  return `{${parts
    .filter(([, words]) => words.length > 0)
    .map(([name, words]) => `${name}:${wordsText(words)}`)
    .join(', ')}}`
}
