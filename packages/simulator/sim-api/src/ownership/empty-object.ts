import { valueIn } from '@tranche/kube-types'
import type { ResourceDefinition } from '../model/resource-definition.ts'
import { definitionOf, findBuiltinKind } from '../schema/builtin-definitions.ts'

/**
 * Object of a kind before any field is set. Typed objects contain some parts from the start, which therefore have no owner; custom
 * resources contain none.
 */
export function emptyObject({ group, version, kind, customResourceDefinition }: ResourceDefinition): object {
  const builtIn = customResourceDefinition === undefined ? findBuiltinKind(group, version, kind) : undefined
  if (builtIn === undefined) return none
  let object = known.get(builtIn.definition)
  if (object === undefined)
    known.set(builtIn.definition, (object = { ...partsOf(builtIn.definition), ...valueIn(deeper, builtIn.definition) }))
  return object
}

const none: object = {}
const known = new Map<string, object>()

function partsOf(definition: string): object {
  const fields = [...definitionOf(definition).fields]
  return Object.fromEntries(fields.filter(([, { type }]) => type.kind === 'definition').map(([name]) => [name, {}]))
}

const template = { metadata: {}, spec: { containers: null } }
const names = { plural: '', kind: '' }

const deeper: Readonly<Record<string, object>> = {
  'apps/v1.DaemonSet': { spec: { selector: null, template, updateStrategy: {} } },
  'apps/v1.Deployment': { spec: { selector: null, template, strategy: {} } },
  'apiextensions/v1.CustomResourceDefinition': { spec: { group: '', names, scope: '', versions: null } },
  'core/v1.Pod': { spec: { containers: null } },
  'core/v1.Node': { spec: {}, status: { daemonEndpoints: { kubeletEndpoint: { Port: 0 } }, nodeInfo: {} } },
  'core/v1.Service': { spec: {}, status: { loadBalancer: {} } },
  'rbac/v1.RoleBinding': { roleRef: { apiGroup: '', kind: '', name: '' } },
  'rbac/v1.ClusterRoleBinding': { roleRef: { apiGroup: '', kind: '', name: '' } },
}
