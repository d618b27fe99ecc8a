import { valueIn } from '@tranche/kube-types'
import { isObject, type JsonObject, listOrEmpty, mapList, objectOrEmpty } from '../model/json.ts'

/**
 * Sets the defaults of a pod spec. Defaults are stored, so they are part of a DaemonSet's revision. Returns the same object when nothing is
 * missing.
 *
 * @see core/v1 SetDefaults_PodSpec, SetDefaults_Container and others
 */
export function defaultPodSpec(spec: JsonObject): JsonObject {
  const hostNetwork = spec['hostNetwork'] === true
  const filled = withDefaults(withAccountTwins(spec), {
    restartPolicy: 'Always',
    terminationGracePeriodSeconds: 30,
    dnsPolicy: 'ClusterFirst',
    securityContext: {},
    schedulerName: 'default-scheduler',
  })
  return withLists(filled, {
    containers: (container) => defaultContainer(container, hostNetwork),
    initContainers: (container) => defaultContainer(container, hostNetwork),
    volumes: defaultVolume,
  })
}

/** `serviceAccount` is the older name of `serviceAccountName`, which takes precedence. Both are served. */
function withAccountTwins(spec: JsonObject): JsonObject {
  const { serviceAccountName, serviceAccount } = spec
  const name = serviceAccountName || serviceAccount
  if (!name || (serviceAccountName === name && serviceAccount === name)) return spec
  return { ...spec, serviceAccountName: name, serviceAccount: name }
}

/** @returns object with all missing fields of `defaults`; the same object when none is missing */
export function withDefaults(object: JsonObject, defaults: JsonObject): JsonObject {
  const missing = Object.entries(defaults).filter(
    ([field]) => object[field] === undefined || object[field] === null || object[field] === '',
  )
  return missing.length === 0 ? object : { ...object, ...Object.fromEntries(missing) }
}

function defaultContainer(container: JsonObject, hostNetwork: boolean): JsonObject {
  const filled = withDefaults(container, {
    imagePullPolicy: isLatest(container['image']) ? 'Always' : 'IfNotPresent',
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  })
  const probed = withObjects(filled, {
    livenessProbe: defaultProbe,
    readinessProbe: defaultProbe,
    startupProbe: defaultProbe,
    resources: defaultResources,
  })
  return withLists(probed, { ports: (port) => defaultPort(port, hostNetwork), env: defaultEnv })
}

function isLatest(image: unknown): boolean {
  if (typeof image !== 'string') return false
  const name = image.slice(image.lastIndexOf('/') + 1)
  return !name.includes('@') && (!name.includes(':') || name.endsWith(':latest'))
}

function defaultPort(port: JsonObject, hostNetwork: boolean): JsonObject {
  return withDefaults(port, { protocol: 'TCP', ...(hostNetwork && { hostPort: port['containerPort'] }) })
}

function defaultProbe(probe: JsonObject): JsonObject {
  const filled = withDefaults(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 })
  return withObjects(filled, {
    httpGet: (get) => withDefaults(get, { path: '/', scheme: 'HTTP' }),
    grpc: (grpc) => withDefaults(grpc, { service: '' }),
  })
}

/** A limit without a request also sets the request. */
function defaultResources(resources: JsonObject): JsonObject {
  const limits = objectOrEmpty(resources['limits'])
  const requests = objectOrEmpty(resources['requests'])
  const missing = Object.keys(limits).filter((name) => valueIn(requests, name) === undefined)
  if (missing.length === 0) return resources
  return { ...resources, requests: { ...requests, ...Object.fromEntries(missing.map((name) => [name, limits[name]])) } }
}

function defaultEnv(env: JsonObject): JsonObject {
  return withObjects(env, {
    valueFrom: (source) => withObjects(source, { fieldRef: (field) => withDefaults(field, { apiVersion: 'v1' }) }),
  })
}

const DEFAULT_FILE_MODE = 0o644

/** A volume without a source is an emptyDir. */
function defaultVolume(volume: JsonObject): JsonObject {
  const filled = Object.keys(volume).some((field) => field !== 'name') ? volume : { ...volume, emptyDir: {} }
  const withMode = (source: JsonObject): JsonObject => withDefaults(source, { defaultMode: DEFAULT_FILE_MODE })
  return withObjects(filled, {
    configMap: withMode,
    secret: withMode,
    downwardAPI: withMode,
    projected: withMode,
    hostPath: (source) => (source['type'] === undefined ? { ...source, type: '' } : source),
  })
}

function withObjects(object: JsonObject, changes: Readonly<Record<string, (value: JsonObject) => JsonObject>>): JsonObject {
  return changed(object, changes, (value, change) => (isObject(value) ? change(value) : value))
}

function withLists(object: JsonObject, changes: Readonly<Record<string, (item: JsonObject) => JsonObject>>): JsonObject {
  return changed(object, changes, (value, change) =>
    Array.isArray(value) ? mapList(listOrEmpty(value), (item) => (isObject(item) ? change(item) : item)) : value,
  )
}

function changed(
  object: JsonObject,
  changes: Readonly<Record<string, (value: JsonObject) => JsonObject>>,
  apply: (value: unknown, change: (value: JsonObject) => JsonObject) => unknown,
): JsonObject {
  let result = object
  for (const [field, change] of Object.entries(changes)) {
    const next = apply(object[field], change)
    if (next !== object[field]) result = { ...result, [field]: next }
  }
  return result
}
