import { type ApiObject, resources } from '../model/client.ts'
import { storeKey } from '../store/bucket.ts'
import { type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import type { Engine } from './engine.ts'
import { forbidden } from '../model/errors.ts'
import { withServiceAccount } from './service-account.ts'
import { withLimits } from '../quota/limit-ranges.ts'
import { qosClassOf } from '../strategies/pod-strategy.ts'

/**
 * Default admission of a new pod, before other admission. It sets amounts from the LimitRanges of its namespace, its service account, and
 * the value of its priority class. It also adds tolerations of five minutes for nodes that are not ready or unreachable.
 *
 * @throws {ApiStatusError} 403 when a LimitRange does not allow it, or its service account or priority class does not exist
 */
export function admitPod(engine: Engine, pod: ApiObject): ApiObject {
  const limited = withLimits(limitRangesOf(engine, pod), pod)
  const prioritized = withPriority(engine, withServiceAccount(engine, limited))
  const next = withPatience(prioritized)
  return limited === pod ? next : { ...next, status: { ...objectOrEmpty(next['status']), qosClass: qosClassOf(next) } }
}

function limitRangesOf(engine: Engine, { metadata }: ApiObject): readonly ApiObject[] {
  const bucket = engine.store.bucket(resources.limitRanges)
  if (bucket.size === 0) return []
  return [...bucket.current().objects.values()].filter((range) => range.metadata.namespace === metadata.namespace)
}

interface Priority {
  readonly name: string
  readonly value: number
  readonly preemptionPolicy: string
}

function withPriority(engine: Engine, pod: ApiObject): ApiObject {
  const spec = objectOrEmpty(pod['spec'])
  const refuse = (why: string): Error => forbidden(resources.pods, pod.metadata.name, why)
  const { name, value, preemptionPolicy } = priorityOf(engine, String(spec['priorityClassName'] ?? ''), refuse)
  const { priority = value, preemptionPolicy: policy = preemptionPolicy } = spec
  if (priority !== value) throw refuse(mustNotSay('integer value of priority', priority, value))
  if (policy !== preemptionPolicy) throw refuse(mustNotSay('string value of PreemptionPolicy', policy, preemptionPolicy))
  return { ...pod, spec: { ...spec, ...(name !== '' && { priorityClassName: name }), priority: value, preemptionPolicy } }
}

function mustNotSay(what: string, said: unknown, computed: unknown): string {
  return `the ${what} (${said}) must not be provided in pod spec; priority admission controller computed ${computed} from the given PriorityClass name`
}

function priorityOf(engine: Engine, name: string, refuse: (why: string) => Error): Priority {
  const bucket = engine.store.bucket(resources.priorityClasses)
  if (name === '') return readPriority(defaultClass([...bucket.current().objects.values()]))
  const found = bucket.get(storeKey(undefined, name))
  if (found === undefined) throw refuse(`no PriorityClass with name ${name} was found`)
  return readPriority(found)
}

function defaultClass(classes: readonly ApiObject[]): ApiObject | undefined {
  const defaults = classes.filter((one) => one['globalDefault'] === true)
  return defaults.sort((a, b) => Number(a['value'] ?? 0) - Number(b['value'] ?? 0))[0]
}

function readPriority(priorityClass: ApiObject | undefined): Priority {
  return {
    name: priorityClass?.metadata.name ?? '',
    value: Number(priorityClass?.['value'] ?? 0),
    preemptionPolicy: String(priorityClass?.['preemptionPolicy'] ?? 'PreemptLowerPriority'),
  }
}

const PATIENCE_SECONDS = 300

/** A pod with tolerations of its own for these taints, as in a DaemonSet, is unchanged. */
function withPatience(pod: ApiObject): ApiObject {
  const spec = objectOrEmpty(pod['spec'])
  const tolerations = listOrEmpty(spec['tolerations']).map(objectOrEmpty)
  const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter(
    (key) => !tolerations.some((toleration) => isAbout(toleration, key)),
  )
  if (missing.length === 0) return pod
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: PATIENCE_SECONDS }))
  return { ...pod, spec: { ...spec, tolerations: [...tolerations, ...added] } }
}

function isAbout({ key, effect }: JsonObject, taintKey: string): boolean {
  return (!key || key === taintKey) && (!effect || effect === 'NoExecute')
}
