import type { StatusCause } from '../status-error.ts'
import { type JsonObject, listOrEmpty, objectOrEmpty } from '../store/json.ts'
import { duplicate, invalid, notSupported, required } from '../field-errors.ts'
import { isDnsLabel, NOT_A_LABEL } from '../requests/names.ts'

/** @returns what is wrong with a pod spec; `field` is its path */
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
    ...notNegative(spec['terminationGracePeriodSeconds'], `${field}.terminationGracePeriodSeconds`),
    ...volumeCauses(spec, field),
    ...tolerationCauses(spec, field),
  ]
}

/** @returns a cause when the value is a number below zero */
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
