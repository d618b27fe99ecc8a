import type { Rule } from './rule.ts'

/** Rules about parts of a policy that the installation must allow. A status names them, and pages show them. */
export const installationRules = {
  RoomNotAllowed: {
    of: 'ReleasePolicy',
    path: 'spec.nodes.room',
    says: 'the installation must allow policies to check that nodes have room',
    fix: 'set rbac.room: true in the values of the chart (--room), or set it to Ignore',
  },
  GroupNotAllowed: {
    of: 'ReleasePolicy',
    path: 'spec.downtime.group',
    says: 'the installation must allow groups',
    fix: 'set rbac.groups: true in the values of the chart (--group-namespace), or remove it',
  },
  PrePullNotAllowed: {
    of: 'ReleasePolicy',
    path: 'spec.prePull',
    says: 'the installation must allow executors to create helper pods',
    fix: 'set rbac.prePull: true in the values of the chart (--pre-pull), or remove it',
  },
  DrainNotAllowed: {
    of: 'ReleasePolicy',
    path: 'spec.drain',
    says: 'the installation must allow policies of the namespace to drain nodes',
    fix: 'list the namespace in rbac.drain.namespaces of the chart (--drain-namespace), or remove it',
  },
  NodeLockNotAllowed: {
    of: 'ReleasePolicy',
    path: 'spec.downtime.nodeLock',
    says: 'the installation must allow policies of the namespace to lock nodes',
    fix: 'list the namespace in rbac.nodeLocks.namespaces of the chart (--lock-namespace), or set it to Ignore',
  },
  DowntimeNotAllowed: {
    of: 'ReleasePolicy',
    path: 'spec.downtime.perDay',
    says: 'the installation must allow policies to limit downtime',
    fix: 'set rbac.downtime: true in the chart (--downtime-namespace), or remove it',
  },
  PinNotAllowed: {
    of: 'ReleasePolicy',
    path: 'spec.config',
    says: 'the installation must allow policies to pin config',
    fix: 'set rbac.configPin: true in the chart (--pin-config), or remove it',
  },
  PodPolicyMissing: {
    of: 'ReleasePolicy',
    path: 'spec.config',
    says: 'the API server must name copies of config in pods, by the MutatingAdmissionPolicy of the chart and its binding',
    fix: 'restore the policy with helm upgrade (rbac.configPin: true), or remove it',
  },
} as const satisfies Record<string, Rule>
