import type { ResourceDefinition } from '../core/resource-definition.ts'

/** What `/version` answers. */
export const serverVersion = {
  major: '1',
  minor: '36',
  gitVersion: 'v1.36.2',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'linux/amd64',
} as const

/** @returns the answer of `/api` */
export function coreVersions(): object {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
}

/** @returns the answer of `/apis` */
export function apiGroupList(definitions: readonly ResourceDefinition[]): object {
  const groups = [...new Set(definitions.map((definition) => definition.group))].filter((group) => group !== '')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map((group) => groupEntry(group, definitions)) }
}

/** @returns the answer of `/apis/<group>`, or undefined when the group does not exist */
export function apiGroup(group: string, definitions: readonly ResourceDefinition[]): object | undefined {
  if (group === '' || !definitions.some((definition) => definition.group === group)) return undefined
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(group, definitions) }
}

/** @returns the answer of `/api/v1` or `/apis/<group>/<version>`, or undefined when nothing is served there */
export function apiResourceList(group: string, version: string, definitions: readonly ResourceDefinition[]): object | undefined {
  const served = definitions.filter((definition) => definition.group === group && definition.versions.includes(version))
  if (served.length === 0) return undefined
  const groupVersion = group === '' ? version : `${group}/${version}`
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: served.flatMap(resourceEntries) }
}

function groupEntry(group: string, definitions: readonly ResourceDefinition[]): object {
  const versions = new Set(definitions.filter((definition) => definition.group === group).flatMap((definition) => definition.versions))
  const entries = [...versions].map((version) => ({ groupVersion: `${group}/${version}`, version }))
  return { name: group, versions: entries, preferredVersion: entries[0] }
}

function resourceEntries(definition: ResourceDefinition): object[] {
  const { plural, singular, namespaced, kind, shortNames, categories } = definition
  const main = {
    name: plural,
    singularName: singular,
    namespaced,
    kind,
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
  }
  return [main, ...definition.subresources.map((subresource) => subresourceEntry(definition, subresource))]
}

function subresourceEntry({ plural, kind, namespaced }: ResourceDefinition, subresource: string): object {
  const entry = { name: `${plural}/${subresource}`, singularName: '', namespaced }
  if (subresource === 'binding') return { ...entry, kind: 'Binding', verbs: ['create'] }
  if (subresource === 'eviction') return { ...entry, group: 'policy', version: 'v1', kind: 'Eviction', verbs: ['create'] }
  return { ...entry, kind, verbs: ['get', 'patch', 'update'] }
}
