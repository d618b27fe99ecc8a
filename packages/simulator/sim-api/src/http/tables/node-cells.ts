import type { ApiObject } from '../../model/client.ts'
import { list, text, textOrNone } from './cells.ts'
import { specOf, statusOf } from './column.ts'
import { objectOrEmpty } from '../../model/json.ts'

/** @returns `Ready`, `NotReady` or `Unknown`, and whether the node is cordoned */
export function nodeStatus(node: ApiObject): string {
  const ready = list(statusOf(node)['conditions']).find((condition) => condition['type'] === 'Ready')?.['status']
  const word = ready === 'True' ? 'Ready' : ready === undefined ? 'Unknown' : 'NotReady'
  return specOf(node)['unschedulable'] === true ? `${word},SchedulingDisabled` : word
}

const rolePrefix = 'node-role.kubernetes.io/'

/** @returns the roles that labels give the node: `control-plane,worker`, or `<none>` */
export function nodeRoles(node: ApiObject): string {
  const roles = Object.entries(node.metadata.labels ?? {}).flatMap(([label, value]) => {
    if (label.startsWith(rolePrefix)) return [label.slice(rolePrefix.length)]
    return label === 'kubernetes.io/role' && value !== '' ? [value] : []
  })
  return [...new Set(roles)].sort().join(',') || '<none>'
}

/** @returns a reader of the node's address of this type */
export function nodeAddress(type: string): (node: ApiObject) => string {
  return (node) => textOrNone(list(statusOf(node)['addresses']).find((address) => address['type'] === type)?.['address'])
}

/** @returns a reader of a field of the node's `nodeInfo` */
export function nodeInfo(field: string): (node: ApiObject) => string {
  return (node) => text(objectOrEmpty(statusOf(node)['nodeInfo'])[field]) || '<unknown>'
}

/** @returns the kernel, with the architecture in brackets where it is known */
export function kernelVersion(node: ApiObject): string {
  const architecture = text(objectOrEmpty(statusOf(node)['nodeInfo'])['architecture'])
  return `${nodeInfo('kernelVersion')(node)}${architecture === '' ? '' : ` (${architecture})`}`
}
