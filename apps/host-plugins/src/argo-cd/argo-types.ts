/** Reference to a resource in the tree of an application. */
export interface ArgoRef {
  readonly group?: string
  readonly version: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly uid?: string
}

/** Resource in the tree of an application, as Argo CD keeps it. */
export interface ArgoNode extends ArgoRef {
  readonly parentRefs?: readonly ArgoRef[]
  readonly info?: readonly { readonly name: string; readonly value: string }[]
  readonly networkingInfo?: { readonly labels?: Readonly<Record<string, string>> }
  readonly resourceVersion?: string
  readonly createdAt?: string
}

/** All resources of an application, live. */
export interface ArgoTree {
  readonly nodes?: readonly ArgoNode[]
}

/** Parts of an Application that are used. */
export interface ArgoApplication {
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly spec: { readonly project: string }
}

/** Properties that Argo CD gives a tab of a resource. */
export interface ArgoTabProps {
  readonly resource: { readonly metadata: { readonly name: string; readonly namespace?: string } }
  readonly tree: ArgoTree
  readonly application: ArgoApplication
}
