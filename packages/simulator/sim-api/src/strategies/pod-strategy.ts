import type { ApiObject } from '../model/client.ts'
import type { StatusCause } from '../model/status-error.ts'
import { jsonEqual, type JsonObject, listOrEmpty, objectOrEmpty } from '../model/json.ts'
import { notAllowed } from '../model/field-errors.ts'
import { defaultPodSpec, withDefaults } from './pod-template-defaults.ts'
import { podSpecWarnings, validatePodSpec } from './pod-template-validation.ts'
import type { Strategy } from '../model/resource-definition.ts'
import { isTerminal } from '../model/is-terminal.ts'
import { plainStrategy } from './strategies.ts'

/** Pods: two-phase deletion, a mostly immutable spec, and the fields by which kubelets select. */
export const podStrategy: Strategy = {
  ...plainStrategy,
  selectableFields: {
    'spec.nodeName': specField('nodeName'),
    'spec.restartPolicy': specField('restartPolicy'),
    'spec.schedulerName': specField('schedulerName'),
    'spec.serviceAccountName': specField('serviceAccountName'),
    'status.phase': statusField('phase'),
    'status.podIP': statusField('podIP'),
    'status.nominatedNodeName': statusField('nominatedNodeName'),
  },
  hasGeneration: true,
  defaults: defaultPod,
  prepareCreate: (object) => ({ ...object, status: { phase: 'Pending', qosClass: qosClassOf(object) } }),
  prepareUpdate: withPriorityOf,
  validate: (object) => validatePodSpec(objectOrEmpty(object['spec']), 'spec'),
  validateUpdate: validateSpecUpdate,
  warnings: (object, old) => (old === undefined ? podSpecWarnings(objectOrEmpty(object['spec']), 'spec') : []),
  gracePeriodSeconds,
}

/** Values set by admission are kept on updates. */
function withPriorityOf(object: ApiObject, old: ApiObject): ApiObject {
  const spec = objectOrEmpty(object['spec'])
  const { priority, preemptionPolicy } = objectOrEmpty(old['spec'])
  const kept = { ...(priority !== undefined && { priority }), ...(preemptionPolicy !== undefined && { preemptionPolicy }) }
  const filled = withDefaults(spec, kept)
  return filled === spec ? object : { ...object, spec: filled }
}

function specField(field: string): (object: ApiObject) => string {
  return (object) => String(objectOrEmpty(object['spec'])[field] ?? '')
}

function statusField(field: string): (object: ApiObject) => string {
  return (object) => String(objectOrEmpty(object['status'])[field] ?? '')
}

function defaultPod(object: ApiObject): ApiObject {
  const spec = objectOrEmpty(object['spec'])
  const filled = withDefaults(defaultPodSpec(spec), { enableServiceLinks: true })
  return filled === spec ? object : { ...object, spec: filled }
}

/** @see https://kubernetes.io/docs/concepts/workloads/pods/pod-qos/ */
export function qosClassOf(pod: ApiObject): string {
  const spec = objectOrEmpty(pod['spec'])
  const containers = [...listOrEmpty(spec['containers']), ...listOrEmpty(spec['initContainers'])]
  const resources = containers.map((container) => objectOrEmpty(objectOrEmpty(container)['resources']))
  const named = (field: string): readonly JsonObject[] => resources.map((each) => objectOrEmpty(each[field]))
  if ([...named('requests'), ...named('limits')].every((each) => each['cpu'] === undefined && each['memory'] === undefined))
    return 'BestEffort'
  const isGuaranteed = resources.every((each) =>
    ['cpu', 'memory'].every((name) => {
      const limit = objectOrEmpty(each['limits'])[name]
      return limit !== undefined && limit === objectOrEmpty(each['requests'])[name]
    }),
  )
  return isGuaranteed ? 'Guaranteed' : 'Burstable'
}

/** An unbound pod, or one whose containers have ended, is removed without a grace period. */
function gracePeriodSeconds(pod: ApiObject, asked: number | undefined): number {
  const spec = objectOrEmpty(pod['spec'])
  if (!spec['nodeName'] || isTerminal(pod)) return 0
  const seconds = asked ?? Number(spec['terminationGracePeriodSeconds'] ?? 30)
  return seconds < 0 ? 1 : seconds
}

const IMMUTABLE_SPEC =
  'pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)'

function validateSpecUpdate(pod: ApiObject, old: ApiObject): readonly StatusCause[] {
  const spec = objectOrEmpty(pod['spec'])
  const oldSpec = objectOrEmpty(old['spec'])
  if (spec === oldSpec || jsonEqual(fixedPart(spec), fixedPart(oldSpec))) {
    const kept = listOrEmpty(oldSpec['tolerations']).every((toleration) =>
      listOrEmpty(spec['tolerations']).some((other) => jsonEqual(other, toleration)),
    )
    return kept ? [] : [notAllowed('spec.tolerations', 'existing toleration can not be modified except its tolerationSeconds')]
  }
  return [notAllowed('spec', IMMUTABLE_SPEC)]
}

function fixedPart(spec: JsonObject): JsonObject {
  const { activeDeadlineSeconds: _deadline, tolerations: _tolerations, containers, initContainers, ...fixed } = spec
  return { ...fixed, containers: withoutImages(containers), initContainers: withoutImages(initContainers) }
}

function withoutImages(containers: unknown): readonly JsonObject[] {
  return listOrEmpty(containers).map((container) => {
    const { image: _image, ...rest } = objectOrEmpty(container)
    return rest
  })
}
