import { REFUSED_LABEL } from '@tranche/kube-types'
import { reapplyText } from '../admit-reapply.ts'
import { boundDaemonSets } from './daemon-set-policy.ts'
import { type PolicyObject, validatingPolicy } from './policy-objects.ts'

/** Metadata of a template without `creationTimestamp`, as CEL. */
const template = (object: string, field: string): string => `${object}.spec.template.metadata.?${field}.orValue({})`

/**
 * Refuses a template of a ControllerRevision with the label {@link REFUSED_LABEL}. The controller sets the label on revisions that
 * failed or were aborted if the ReleasePolicy has `failure.onReapply: Deny` (G12).
 */
export const reapplyPolicy: readonly PolicyObject[] = validatingPolicy(
  {
    name: 'reapply',
    ...boundDaemonSets,
    params: { apiVersion: 'apps/v1', kind: 'ControllerRevision', labels: { [REFUSED_LABEL]: 'true' } },
    conditions: [
      ...boundDaemonSets.conditions,
      { name: 'new-template', expression: 'object.spec.template != oldObject.spec.template' },
      {
        name: 'own-revision',
        expression: [
          'params.metadata.namespace == oldObject.metadata.namespace',
          "params.metadata.?ownerReferences.orValue([]).exists(owner, owner.?controller.orValue(false) && owner.kind == 'DaemonSet' && owner.uid == oldObject.metadata.uid)",
        ].join(' && '),
      },
    ],
    variables: [{ name: 'refused', expression: 'dyn(params.data)' }],
  },
  'Deny',
  [
    {
      expression: [
        'object.spec.template.spec != variables.refused.spec.template.spec',
        `${template('object', 'labels')} != ${template('variables.refused', 'labels')}`,
        `${template('object', 'annotations')} != ${template('variables.refused', 'annotations')}`,
      ].join(' ||\n'),
      message: said('this revision'),
      messageExpression: `'${said("revision ' + params.metadata.?labels['controller-revision-hash'].orValue(params.metadata.name) + '")}'`,
    },
  ],
)

function said(revision: string): string {
  return `spec.template: ${reapplyText(revision)}`
}
