import * as React from 'react'
import { type ComponentType, createElement, type ReactNode } from 'react'
import type { ArgoTabProps } from './argo-types.ts'
import { RolloutTab } from './rollout-tab.tsx'

/** Global by which Argo CD takes extensions. */
interface ExtensionsApi {
  registerResourceExtension(
    component: ComponentType<ArgoTabProps>,
    group: string,
    kind: string,
    title: string,
    options: { readonly icon: string },
  ): void
}

/** Says what is missing where Argo CD has React 16, as all versions before 3.5. */
function TooOld(): ReactNode {
  return createElement('p', null, `This tab needs Argo CD 3.5 or later: this one has React ${React.version}. Use the dashboard of Tranche.`)
}

const { extensionsAPI } = globalThis as { readonly extensionsAPI?: ExtensionsApi }
const tab = 'useSyncExternalStore' in React ? RolloutTab : TooOld
extensionsAPI?.registerResourceExtension(tab, 'rollouts.kruise.io', 'Rollout', 'Release', { icon: 'fa-layer-group' })
