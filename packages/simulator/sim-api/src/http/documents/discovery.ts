import type { ResourceDefinition } from '../../model/resource-definition.ts'
import {
  type DiscoveredGroup,
  type DiscoveredKind,
  type DiscoveredResource,
  type DiscoveredVersion,
  servedGroups,
} from './served-groups.ts'

/** Response of `/version`. */
export const serverVersion = {
  major: '1',
  minor: '36',
  emulationMajor: '1',
  emulationMinor: '36',
  minCompatibilityMajor: '1',
  minCompatibilityMinor: '35',
  gitVersion: 'v1.36.2',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'linux/amd64',
} as const

/** @returns response of `/api` */
export function coreVersions(): object {
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] }
}

/** @returns response of `/apis` */
export function apiGroupList(definitions: readonly ResourceDefinition[]): object {
  const groups = servedGroups(definitions).filter(({ group }) => group !== '')
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map(groupEntry) }
}

/** @returns response of `/apis/<group>`; undefined when the group does not exist */
export function apiGroup(group: string, definitions: readonly ResourceDefinition[]): object | undefined {
  const found = group === '' ? undefined : servedGroups(definitions).find((served) => served.group === group)
  return found === undefined ? undefined : { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(found) }
}

/** @returns response of `/api/v1` or `/apis/<group>/<version>`; undefined when it is not served */
export function apiResourceList(group: string, version: string, definitions: readonly ResourceDefinition[]): object | undefined {
  const found = servedGroups(definitions)
    .find((served) => served.group === group)
    ?.versions.find((served) => served.version === version)
  if (found === undefined) return undefined
  const groupVersion = group === '' ? version : `${group}/${version}`
  return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: found.resources.flatMap(resourceEntries) }
}

/**
 * @param root `api` for the core group, `apis` for all others
 * @param version of the document itself: `v2`, `v2beta1`
 * @returns aggregated discovery below `/api` or `/apis`
 */
export function groupDiscoveryList(root: 'api' | 'apis', version: string, definitions: readonly ResourceDefinition[]): object {
  const groups = servedGroups(definitions).filter(({ group }) => (group === '') === (root === 'api'))
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: `apidiscovery.k8s.io/${version}`,
    metadata: {},
    items: groups.map(({ group, versions }) => ({
      metadata: group === '' ? {} : { name: group },
      versions: versions.map(versionDiscovery),
    })),
  }
}

function groupEntry({ group, versions }: DiscoveredGroup): object {
  const entries = versions.map(({ version }) => ({ groupVersion: `${group}/${version}`, version }))
  return { name: group, versions: entries, preferredVersion: entries[0] }
}

function resourceEntries(resource: DiscoveredResource): object[] {
  const { plural, singular, namespaced, responseKind, verbs, shortNames, categories, storageVersionHash } = resource
  const main = {
    name: plural,
    singularName: singular,
    namespaced,
    kind: responseKind.kind,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(storageVersionHash !== undefined && { storageVersionHash }),
  }
  const subresources = resource.subresources.map(({ name, responseKind: answer, verbs: allowed }) => ({
    name: `${plural}/${name}`,
    singularName: '',
    namespaced,
    ...(!isSameGroupVersion(answer, responseKind) && { group: answer.group, version: answer.version }),
    kind: answer.kind,
    verbs: allowed,
  }))
  return [main, ...subresources]
}

function isSameGroupVersion(a: DiscoveredKind, b: DiscoveredKind): boolean {
  return a.group === b.group && a.version === b.version
}

function versionDiscovery({ version, resources }: DiscoveredVersion): object {
  return { version, resources: resources.map(resourceDiscovery), freshness: 'Current' }
}

function resourceDiscovery(resource: DiscoveredResource): object {
  const { plural, singular, namespaced, responseKind, isCustom, verbs, shortNames, categories, subresources } = resource
  // Built-in resources omit the group and version of a kind when they equal their own.
  const shown = (kind: DiscoveredKind): DiscoveredKind =>
    !isCustom && isSameGroupVersion(kind, responseKind) ? { group: '', version: '', kind: kind.kind } : kind
  return {
    resource: plural,
    responseKind: shown(responseKind),
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames.length > 0 && { shortNames }),
    ...(categories.length > 0 && { categories }),
    ...(subresources.length > 0 && {
      subresources: subresources.map(({ name, responseKind: answer, verbs: allowed }) => ({
        subresource: name,
        responseKind: shown(answer),
        verbs: allowed,
      })),
    }),
  }
}
