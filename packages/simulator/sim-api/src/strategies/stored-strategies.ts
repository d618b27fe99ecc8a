/**
 * Objects of charts that the simulator stores without behaviour: Deployments without pods, Services without endpoints, NetworkPolicies and
 * Ingresses without enforcement. Has the defaults and validation that an apply depends on.
 */
import type { ApiObject } from '../model/client.ts'
import { invalid, required } from '../model/field-errors.ts'
import { labelSelectorCauses, selectsLabels } from '../model/label-selector.ts'
import type { Strategy } from '../model/resource-definition.ts'
import type { StatusCause } from '../model/status-error.ts'
import { isObject, jsonEqual, type JsonObject, listOrEmpty, mapList, objectOrEmpty } from '../model/json.ts'
import { defaultPodSpec, withDefaults } from './pod-template-defaults.ts'
import { notNegative, podSpecWarnings, validatePodSpec } from './pod-template-validation.ts'
import { plainStrategy } from './strategies.ts'

/** Deployments: validated like in the API server; nothing runs them, so their status stays empty. */
export const deploymentStrategy: Strategy = {
  ...plainStrategy,
  hasGeneration: true,
  defaults: defaultDeployment,
  prepareCreate: withEmptyStatus,
  validate: deploymentCauses,
  validateUpdate: (object, old) => unchanged(object, old, 'selector'),
  warnings: (object) => podSpecWarnings(objectOrEmpty(templateOf(object)['spec']), 'spec.template.spec'),
}

/** Services: with the defaults of ports; no address is assigned. */
export const serviceStrategy: Strategy = {
  ...plainStrategy,
  defaults: defaultService,
  prepareCreate: (object) => ({ ...withEmptyStatus(object), status: { loadBalancer: {} } }),
  validate: (object) => {
    const ports = listOrEmpty(objectOrEmpty(object['spec'])['ports'])
    return ports.length === 0 ? [required('spec.ports')] : []
  },
}

/** NetworkPolicies. */
export const networkPolicyStrategy: Strategy = {
  ...plainStrategy,
  hasGeneration: true,
  defaults: (object) => {
    const spec = objectOrEmpty(object['spec'])
    const types = ['Ingress', ...(listOrEmpty(spec['egress']).length > 0 ? ['Egress'] : [])]
    return { ...object, spec: withDefaults({ ...spec, podSelector: objectOrEmpty(spec['podSelector']) }, { policyTypes: types }) }
  },
  validate: (object) => labelSelectorCauses(objectOrEmpty(objectOrEmpty(object['spec'])['podSelector']), 'spec.podSelector'),
}

/** Ingresses. */
export const ingressStrategy: Strategy = {
  ...plainStrategy,
  hasGeneration: true,
  prepareCreate: (object) => ({ ...withEmptyStatus(object), status: { loadBalancer: {} } }),
}

/** @see apps/v1 SetDefaults_Deployment */
function defaultDeployment(object: ApiObject): ApiObject {
  const spec = objectOrEmpty(object['spec'])
  const template = templateOf(object)
  const strategy = withDefaults(objectOrEmpty(spec['strategy']), { type: 'RollingUpdate' })
  const rolling = withDefaults(objectOrEmpty(strategy['rollingUpdate']), { maxUnavailable: '25%', maxSurge: '25%' })
  return {
    ...object,
    spec: {
      ...withDefaults(spec, { replicas: 1, revisionHistoryLimit: 10, progressDeadlineSeconds: 600 }),
      strategy: strategy['type'] === 'RollingUpdate' ? { ...strategy, rollingUpdate: rolling } : strategy,
      template: {
        ...template,
        metadata: objectOrEmpty(template['metadata']),
        spec: defaultPodSpec(objectOrEmpty(template['spec'])),
      },
    },
  }
}

/** @see core/v1 SetDefaults_Service */
function defaultService(object: ApiObject): ApiObject {
  const spec = objectOrEmpty(object['spec'])
  const ports = mapList(listOrEmpty(spec['ports']), (item) => {
    const port = objectOrEmpty(item)
    return withDefaults(port, { protocol: 'TCP', targetPort: port['port'] })
  })
  return { ...object, spec: { ...withDefaults(spec, { type: 'ClusterIP', sessionAffinity: 'None' }), ports } }
}

function withEmptyStatus(object: ApiObject): ApiObject {
  return { ...object, status: {} }
}

/** @see apps ValidateDeployment */
function deploymentCauses(object: ApiObject): readonly StatusCause[] {
  const spec = objectOrEmpty(object['spec'])
  return [
    ...notNegative(spec['replicas'], 'spec.replicas'),
    ...selectorCauses(spec['selector'], templateOf(object)),
    ...validatePodSpec(objectOrEmpty(templateOf(object)['spec']), 'spec.template.spec'),
    ...notNegative(spec['revisionHistoryLimit'], 'spec.revisionHistoryLimit'),
    ...notNegative(spec['minReadySeconds'], 'spec.minReadySeconds'),
  ]
}

function selectorCauses(selector: unknown, template: JsonObject): readonly StatusCause[] {
  if (!isObject(selector)) return [required('spec.selector')]
  const causes = labelSelectorCauses(selector, 'spec.selector')
  const labels = objectOrEmpty(objectOrEmpty(template['metadata'])['labels'])
  if (causes.length > 0 || selectsLabels(selector, labels)) return causes
  return [invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`')]
}

function unchanged(object: ApiObject, old: ApiObject, field: string): readonly StatusCause[] {
  const value = objectOrEmpty(object['spec'])[field]
  return jsonEqual(value, objectOrEmpty(old['spec'])[field]) ? [] : [invalid(`spec.${field}`, value, 'field is immutable')]
}

function templateOf(object: ApiObject): JsonObject {
  return objectOrEmpty(objectOrEmpty(object['spec'])['template'])
}
