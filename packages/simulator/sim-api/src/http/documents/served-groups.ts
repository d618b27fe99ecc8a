import { valueIn } from '@tranche/kube-types'
import { createHash } from 'node:crypto'
import type { ResourceDefinition } from '../../model/resource-definition.ts'
import { type ReviewResource, reviewResources } from './review-resources.ts'

/** Kind in discovery. The core group is `''`. */
export interface DiscoveredKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** Operations on a subresource. */
export interface DiscoveredSubresource {
  readonly name: string
  readonly responseKind: DiscoveredKind
  readonly verbs: readonly string[]
}

/** Resource in both forms of discovery. */
export interface DiscoveredResource {
  readonly plural: string
  readonly singular: string
  readonly namespaced: boolean
  readonly responseKind: DiscoveredKind
  /** Whether it is a custom resource. */
  readonly isCustom: boolean
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly subresources: readonly DiscoveredSubresource[]
  /** Changes with the storage version; absent for resources that are not stored. */
  readonly storageVersionHash?: string
}

/** One version of a group. */
export interface DiscoveredVersion {
  readonly version: string
  /** By plural. */
  readonly resources: readonly DiscoveredResource[]
}

/** A group; the core group is `''`. */
export interface DiscoveredGroup {
  readonly group: string
  /** In order of preference. */
  readonly versions: readonly DiscoveredVersion[]
}

/** @returns all served groups: the core group first, then the groups in the order of a real cluster */
export function servedGroups(definitions: readonly ResourceDefinition[]): readonly DiscoveredGroup[] {
  const groups = new Set([...definitions, ...reviewResources].map(({ group }) => group))
  return [...groups].sort(byGroup).map((group) => ({ group, versions: versionsOf(group, definitions) }))
}

const groupOrder = [
  '',
  'apps',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
]

function byGroup(a: string, b: string): number {
  const rank = (group: string): number => (groupOrder.includes(group) ? groupOrder.indexOf(group) : groupOrder.length)
  return rank(a) - rank(b) || (a < b ? -1 : 1)
}

function versionsOf(group: string, definitions: readonly ResourceDefinition[]): readonly DiscoveredVersion[] {
  const stored = definitions.filter((definition) => definition.group === group)
  const others = reviewResources.filter((resource) => resource.group === group)
  const versions = new Set([...stored.flatMap((definition) => definition.versions), ...(others.length > 0 ? ['v1'] : [])])
  return [...versions].sort(byVersion).map((version) => {
    const resources = [
      ...stored.filter((definition) => definition.versions.includes(version)).map((definition) => discovered(definition, version)),
      ...(version === 'v1' ? others.map(discoveredReview) : []),
    ]
    return { version, resources: resources.sort((a, b) => (a.plural < b.plural ? -1 : 1)) }
  })
}

/** v2 before v1 before v1beta1 before v1alpha1 before anything else. */
function byVersion(a: string, b: string): number {
  const rank = (version: string): readonly number[] => {
    const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version)
    if (match === null) return [0, 0, 0]
    return [match[2] === undefined ? 3 : match[2] === 'beta' ? 2 : 1, Number(match[1]), Number(match[3] ?? 0)]
  }
  const [left, right] = [rank(a), rank(b)]
  const differing = left.findIndex((part, index) => part !== right[index])
  return differing === -1 ? (a < b ? -1 : 1) : right[differing]! - left[differing]!
}

function discovered(definition: ResourceDefinition, version: string): DiscoveredResource {
  const { group, plural, singular, namespaced, kind, shortNames, categories, subresources } = definition
  return {
    plural,
    singular,
    namespaced,
    responseKind: { group, version, kind },
    isCustom: definition.customResourceDefinition !== undefined,
    verbs: verbsOf(definition),
    shortNames,
    categories,
    subresources: [...subresources].sort().map((name) => subresource(definition, version, name)),
    storageVersionHash: createHash('sha256').update(`${group}/${definition.version}/${kind}`).digest().subarray(0, 8).toString('base64'),
  }
}

/** @returns verbs of a resource; namespaces have no deletecollection */
export function verbsOf({ group, plural, customResourceDefinition }: ResourceDefinition): readonly string[] {
  if (customResourceDefinition !== undefined) return customVerbs
  return group === '' && plural === 'namespaces' ? verbs.filter((verb) => verb !== 'deletecollection') : verbs
}

const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch']
const customVerbs = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch']

/** Kinds posted to create-only subresources. */
const postedKinds: Readonly<Record<string, DiscoveredKind>> = {
  binding: { group: '', version: 'v1', kind: 'Binding' },
  eviction: { group: 'policy', version: 'v1', kind: 'Eviction' },
  token: { group: 'authentication.k8s.io', version: 'v1', kind: 'TokenRequest' },
}

const scaleKind: DiscoveredKind = { group: 'autoscaling', version: 'v1', kind: 'Scale' }

/** @returns kind posted to a create-only subresource; undefined for one that is read and changed */
export function postedKind(subresource: string): DiscoveredKind | undefined {
  return valueIn(postedKinds, subresource)
}

function subresource({ group, kind }: ResourceDefinition, version: string, name: string): DiscoveredSubresource {
  const posted = postedKind(name)
  if (posted !== undefined) return { name, responseKind: posted, verbs: ['create'] }
  if (name === 'scale') return { name, responseKind: scaleKind, verbs: ['get', 'patch', 'update'] }
  return { name, responseKind: { group, version, kind }, verbs: name === 'finalize' ? ['update'] : ['get', 'patch', 'update'] }
}

function discoveredReview({ group, plural, kind, namespaced }: ReviewResource): DiscoveredResource {
  return {
    plural,
    singular: kind.toLowerCase(),
    namespaced,
    responseKind: { group, version: 'v1', kind },
    isCustom: false,
    verbs: ['create'],
    shortNames: [],
    categories: [],
    subresources: [],
  }
}
