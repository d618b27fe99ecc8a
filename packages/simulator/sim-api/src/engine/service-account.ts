import { type ApiObject, resources } from '../model/client.ts'
import { forbidden } from '../model/errors.ts'
import type { Engine } from './engine.ts'
import { generateName } from '../model/names.ts'
import { storeKey } from '../store/bucket.ts'
import { freezeDeep, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { createRandom } from '../model/random.ts'

const MIRROR = 'kubernetes.io/config.mirror'
const VOLUME_PREFIX = 'kube-api-access-'
const MOUNT_PATH = '/var/run/secrets/kubernetes.io/serviceaccount'

/** Sources of a token volume; shared by all pods. */
const TOKEN_SOURCES = freezeDeep({
  sources: [
    { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
    { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
    { downwardAPI: { items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }] } },
  ],
  defaultMode: 0o644,
})

/**
 * Sets the service account of a new pod (default: `default`), mounts its token, and adds its image pull secrets. Mirror pods are unchanged.
 *
 * @throws {ApiStatusError} 403 when the account does not exist
 * @see plugin/pkg/admission/serviceaccount
 */
export function withServiceAccount(engine: Engine, pod: ApiObject): ApiObject {
  if (pod.metadata.annotations?.[MIRROR] !== undefined) return pod
  const spec = objectOrEmpty(pod['spec'])
  const name = String(spec['serviceAccountName'] || 'default')
  const account = findAccount(engine, pod, name)
  const named = { ...spec, serviceAccountName: name, serviceAccount: name }
  const mounted = wantsToken(spec, account) ? withToken(named, pod.metadata.uid) : named
  return { ...pod, spec: withPullSecrets(mounted, account) }
}

function findAccount(engine: Engine, { metadata }: ApiObject, name: string): ApiObject {
  const account = engine.store.bucket(resources.serviceAccounts).get(storeKey(metadata.namespace, name))
  if (account !== undefined) return account
  const why = `error looking up service account ${metadata.namespace}/${name}: serviceaccount ${JSON.stringify(name)} not found`
  throw forbidden(resources.pods, metadata.name, why)
}

/** The pod's own setting wins. */
function wantsToken(spec: JsonObject, account: ApiObject): boolean {
  return (spec['automountServiceAccountToken'] ?? account['automountServiceAccountToken'] ?? true) === true
}

/** @param uid of the pod; determines the name of its volume */
function withToken(spec: JsonObject, uid: string): JsonObject {
  const volumes = listOrEmpty(spec['volumes'])
  const existing = volumes.map((volume) => String(objectOrEmpty(volume)['name'])).find((volume) => volume.startsWith(VOLUME_PREFIX))
  const name = existing ?? generateName(VOLUME_PREFIX, createRandom(uid))
  const mount = { name, readOnly: true, mountPath: MOUNT_PATH }
  const containers = listOrEmpty(spec['containers']).map((container) => withMount(container, mount))
  const initContainers = listOrEmpty(spec['initContainers']).map((container) => withMount(container, mount))
  const isMounted = [...containers, ...initContainers].some((container) => listOrEmpty(container['volumeMounts']).includes(mount))
  if (!isMounted) return spec
  return {
    ...spec,
    containers,
    ...(initContainers.length > 0 && { initContainers }),
    ...(existing === undefined && { volumes: [...volumes, { name, projected: TOKEN_SOURCES }] }),
  }
}

/** A container with another mount at that path keeps it. */
function withMount(container: unknown, mount: JsonObject): JsonObject {
  const own = objectOrEmpty(container)
  const mounts = listOrEmpty(own['volumeMounts'])
  const isTaken = mounts.some((other) => objectOrEmpty(other)['mountPath'] === MOUNT_PATH)
  return isTaken ? own : { ...own, volumeMounts: [...mounts, mount] }
}

function withPullSecrets(spec: JsonObject, account: ApiObject): JsonObject {
  const secrets = listOrEmpty(account['imagePullSecrets'])
  if (secrets.length === 0 || listOrEmpty(spec['imagePullSecrets']).length > 0) return spec
  return { ...spec, imagePullSecrets: secrets.map((secret) => ({ name: objectOrEmpty(secret)['name'] })) }
}
