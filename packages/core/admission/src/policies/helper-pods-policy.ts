import { PRE_PULL_LABEL, PRE_PULL_PROGRAM } from '@tranche/kube-types'
import { type PolicyObject, validatingPolicy, type Validation } from './policy-objects.ts'

/** User name in the policy for the account of the executors: the chart writes the name of its own there. */
export const EXECUTOR_ACCOUNT = 'system:serviceaccount:NAMESPACE:EXECUTOR'

/** CEL: something holds for each container. */
function eachContainer(expression: string): string {
  return `object.spec.containers.all(container, ${expression})`
}

function only(expression: string, what: string): Validation {
  return { expression, message: `executors of Tranche create only helper pods of prePull, in which nothing runs: ${what}` }
}

/**
 * Limits the right of executors to create pods (`rbac.prePull`) to helper pods. Nothing ever runs in these, because a kubelet refuses to create
 * a container that must not be root and is root. Pods of a mesh, which get a container from a webhook, are rejected as well: that one would run.
 *
 * @see helperManifest
 */
export const helperPodsPolicy: readonly PolicyObject[] = validatingPolicy(
  {
    name: 'helper-pods',
    operations: ['CREATE'],
    group: '',
    version: 'v1',
    resource: 'pods',
    conditions: [{ name: 'executors', expression: `request.userInfo.username == '${EXECUTOR_ACCOUNT}'` }],
    variables: [],
  },
  'Deny',
  [
    only(`'${PRE_PULL_LABEL}' in object.metadata.?labels.orValue({})`, `the label ${PRE_PULL_LABEL} is missing`),
    only(
      `object.metadata.?ownerReferences.orValue([]).exists(owner, owner.kind == 'BatchRelease' && owner.apiVersion.startsWith('rollouts.kruise.io/'))`,
      'no BatchRelease owns it',
    ),
    only(
      eachContainer(
        'container.?securityContext.?runAsNonRoot.orValue(false) && container.?securityContext.?runAsUser.orValue(1) == 0 && !container.?securityContext.?privileged.orValue(false)',
      ),
      'a container lacks runAsNonRoot: true with runAsUser: 0, or is privileged',
    ),
    // Kubelets of Windows do not know user 0, and would run what an image offers. A port of the node would be taken even by a pod that never runs.
    only(
      eachContainer(
        `container.?command.orValue([]).size() == 1 && container.?command.orValue([''])[0] == '${PRE_PULL_PROGRAM}' && container.?args.orValue([]).size() == 0 && container.?ports.orValue([]).size() == 0`,
      ),
      'a container has another command, or ports',
    ),
    only(
      `!object.spec.?securityContext.?windowsOptions.hasValue() && ${eachContainer('!container.?securityContext.?windowsOptions.hasValue()')}`,
      'it has options for Windows, such as hostProcess',
    ),
    only(
      'object.spec.?initContainers.orValue([]).size() == 0 && object.spec.?ephemeralContainers.orValue([]).size() == 0',
      'it has init containers or ephemeral containers',
    ),
    only(
      'object.spec.?automountServiceAccountToken.orValue(true) == false && object.spec.?volumes.orValue([]).size() == 0',
      'it has volumes, or the token of its account',
    ),
    only(
      `!object.spec.?hostPID.orValue(false) && !object.spec.?hostIPC.orValue(false) && object.spec.?restartPolicy.orValue('Always') == 'Never'`,
      'it uses hostPID or hostIPC, or restarts its containers',
    ),
  ],
)
