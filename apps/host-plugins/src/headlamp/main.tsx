import { headlampLib } from './headlamp-lib.ts'
import { HeadlampPage } from './headlamp-page.tsx'
import { PLUGIN_PATH } from './plugin-path.ts'
import { ReleaseSection } from './release-section.tsx'

const { registerDetailsViewSection, registerRoute, registerSidebarEntry } = headlampLib()

registerSidebarEntry({ parent: null, name: 'tranche', label: 'Tranche', url: PLUGIN_PATH, icon: 'mdi:progress-check' })

const paths = ['', '/record', '/rollouts/:namespace/:name', '/rollouts/:namespace/:name/policy', '/rollouts/:namespace/:name/nodes/:node']
for (const path of paths)
  registerRoute({
    path: `${PLUGIN_PATH}${path}`,
    exact: true,
    name: `tranche${path.replaceAll(/[/:]+/g, '-')}`,
    sidebar: 'tranche',
    component: HeadlampPage,
  })

registerDetailsViewSection(ReleaseSection)
