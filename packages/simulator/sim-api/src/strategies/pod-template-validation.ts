import type { StatusCause } from '../model/status-error.ts'
import { isObject, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { duplicate, invalid, notAllowed, notSupported, required } from '../model/field-errors.ts'
import { readAmounts } from '../quota/pod-resources.ts'
import { labelCauses } from '../model/metadata.ts'
import { isDnsLabel, NOT_A_LABEL } from '../model/names.ts'

/** @returns validation errors of a pod spec; `field` is its path */
export function validatePodSpec(spec: JsonObject, field: string): readonly StatusCause[] {
  const containers = listOrEmpty(spec['containers'])
  const names = new Set<unknown>()
  return [
    ...(containers.length === 0 ? [required(`${field}.containers`)] : []),
    ...containers.flatMap((container, index) => containerCauses(objectOrEmpty(container), `${field}.containers[${index}]`, names)),
    ...listOrEmpty(spec['initContainers']).flatMap((container, index) =>
      containerCauses(objectOrEmpty(container), `${field}.initContainers[${index}]`, names),
    ),
    ...oneOf(spec['restartPolicy'], `${field}.restartPolicy`, ['Always', 'Never', 'OnFailure']),
    ...oneOf(spec['dnsPolicy'], `${field}.dnsPolicy`, ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None']),
    ...volumeCauses(spec, field),
    ...tolerationCauses(spec, field),
    ...nodeSelectorCauses(spec, field),
  ]
}

/** @returns warnings about an accepted pod spec; `field` is its path */
export function podSpecWarnings(spec: JsonObject, field: string): readonly string[] {
  if (Number(spec['terminationGracePeriodSeconds'] ?? 0) >= 0) return []
  return [`${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`]
}

/** @returns a cause for a negative number */
export function notNegative(value: unknown, field: string): readonly StatusCause[] {
  return typeof value === 'number' && value < 0 ? [invalid(field, value, 'must be greater than or equal to 0')] : []
}

function oneOf(value: unknown, field: string, supported: readonly string[]): readonly StatusCause[] {
  return value === undefined || supported.includes(String(value)) ? [] : [notSupported(field, value, supported)]
}

function containerCauses(container: JsonObject, field: string, names: Set<unknown>): readonly StatusCause[] {
  const { name, image } = container
  return [
    ...nameCauses(name, `${field}.name`, names),
    ...(image ? [] : [required(`${field}.image`)]),
    ...(typeof image === 'string' && image !== image.trim()
      ? [invalid(`${field}.image`, image, 'must not have leading or trailing whitespace')]
      : []),
    ...oneOf(container['imagePullPolicy'], `${field}.imagePullPolicy`, ['Always', 'IfNotPresent', 'Never']),
    ...listOrEmpty(container['ports']).flatMap((port, index) => portCauses(objectOrEmpty(port), `${field}.ports[${index}]`)),
    ...listOrEmpty(container['env']).flatMap((env, index) => (objectOrEmpty(env)['name'] ? [] : [required(`${field}.env[${index}].name`)])),
    ...amountCauses(objectOrEmpty(container['resources']), `${field}.resources`),
    ...PROBES.flatMap((probe) => handlerCauses(container[probe], `${field}.${probe}`)),
  ]
}

/** Requests must not exceed limits; for resources that cannot be overcommitted, they must be equal. */
function amountCauses({ requests, limits }: JsonObject, field: string): readonly StatusCause[] {
  if (requests === undefined) return []
  const most = readAmounts(limits)
  const texts = objectOrEmpty(requests)
  return [...readAmounts(requests)].flatMap(([name, amount]) => {
    const limit = most.get(name)
    const says = (how: string): readonly StatusCause[] => [
      invalid(`${field}.requests`, texts[name], `must be ${how} ${name} limit of ${String(objectOrEmpty(limits)[name])}`),
    ]
    if (amount === limit) return []
    if (isOvercommitted(name)) return limit !== undefined && amount > limit ? says('less than or equal to') : []
    return limit === undefined ? [required(`${field}.limits`, 'Limit must be set for non overcommitable resources')] : says('equal to')
  })
}

/** Native resources of Kubernetes, without a domain or in its own, except huge pages. */
function isOvercommitted(name: string): boolean {
  return (!name.includes('/') || name.includes('kubernetes.io/')) && !name.startsWith('hugepages-')
}

const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe']
const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc']

function handlerCauses(probe: unknown, field: string): readonly StatusCause[] {
  if (!isObject(probe)) return []
  const [first, ...others] = HANDLERS.filter((handler) => isObject(probe[handler]))
  if (first === undefined) return [required(field, 'must specify a handler type')]
  return others.map((handler) => notAllowed(`${field}.${handler}`, 'may not specify more than 1 handler type'))
}

function nodeSelectorCauses(spec: JsonObject, field: string): readonly StatusCause[] {
  const { nodeAffinity } = objectOrEmpty(spec['affinity'])
  const wanted = objectOrEmpty(nodeAffinity)['requiredDuringSchedulingIgnoredDuringExecution']
  const path = `${field}.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms`
  return [
    ...labelCauses(objectOrEmpty(spec['nodeSelector']), `${field}.nodeSelector`),
    ...(isObject(wanted) && listOrEmpty(wanted['nodeSelectorTerms']).length === 0
      ? [required(path, 'must have at least one node selector term')]
      : []),
  ]
}

function nameCauses(name: unknown, field: string, names: Set<unknown>): readonly StatusCause[] {
  if (!name) return [required(field)]
  if (names.has(name)) return [duplicate(field, name)]
  names.add(name)
  return isDnsLabel(String(name)) ? [] : [invalid(field, name, NOT_A_LABEL)]
}

function portCauses(port: JsonObject, field: string): readonly StatusCause[] {
  const number = port['containerPort']
  if (number === undefined) return [required(`${field}.containerPort`)]
  const isPort = typeof number === 'number' && number >= 1 && number <= 65_535
  return [
    ...(isPort ? [] : [invalid(`${field}.containerPort`, number, 'must be between 1 and 65535, inclusive')]),
    ...oneOf(port['protocol'], `${field}.protocol`, ['SCTP', 'TCP', 'UDP']),
  ]
}

function volumeCauses(spec: JsonObject, field: string): readonly StatusCause[] {
  const names = new Set<unknown>()
  const volumes = listOrEmpty(spec['volumes']).flatMap((volume, index) =>
    nameCauses(objectOrEmpty(volume)['name'], `${field}.volumes[${index}].name`, names),
  )
  const mounts = listOrEmpty(spec['containers']).flatMap((container, at) =>
    listOrEmpty(objectOrEmpty(container)['volumeMounts']).flatMap((mount, index) => {
      const name = objectOrEmpty(mount)['name']
      const path = `${field}.containers[${at}].volumeMounts[${index}].name`
      return names.has(name) ? [] : [{ reason: 'FieldValueNotFound', message: `Not found: ${JSON.stringify(name)}`, field: path }]
    }),
  )
  return [...volumes, ...mounts]
}

function tolerationCauses(spec: JsonObject, field: string): readonly StatusCause[] {
  return listOrEmpty(spec['tolerations']).flatMap((toleration, index) => {
    const { operator, key, value, effect } = objectOrEmpty(toleration)
    const path = `${field}.tolerations[${index}]`
    return [
      ...(!key && operator !== 'Exists'
        ? [
            invalid(
              `${path}.operator`,
              operator ?? '',
              'operator must be Exists when `key` is empty, which means "match all values and all keys"',
            ),
          ]
        : []),
      ...(operator === 'Exists' && value
        ? [invalid(`${path}.operator`, toleration, "value must be empty when `operator` is 'Exists'")]
        : []),
      ...(operator ? oneOf(operator, `${path}.operator`, ['Equal', 'Exists']) : []),
      ...(effect ? oneOf(effect, `${path}.effect`, ['NoSchedule', 'PreferNoSchedule', 'NoExecute']) : []),
    ]
  })
}
