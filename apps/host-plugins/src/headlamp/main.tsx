import { headlampLib } from './headlamp-lib.ts'
import { HeadlampPage } from './headlamp-page.tsx'
import { PLUGIN_PATH } from './plugin-path.ts'
import { ReleaseAction } from './release-action.tsx'
import { ReleaseSection } from './release-section.tsx'

const { registerDetailsViewHeaderAction, registerDetailsViewSection, registerRoute, registerSidebarEntry } = headlampLib()

const record = `${PLUGIN_PATH}/record`
registerSidebarEntry({ parent: null, name: 'tranche', label: 'Tranche', url: PLUGIN_PATH, icon: 'mdi:progress-check' })
registerSidebarEntry({ parent: 'tranche', name: 'tranche-rollouts', label: 'Rollouts', url: PLUGIN_PATH })
registerSidebarEntry({ parent: 'tranche', name: 'tranche-record', label: 'Record', url: record })

// The first route that matches counts. Headlamp mounts each route again, so all places but the record share one and keep what they have read.
registerRoute({ path: record, exact: true, name: 'Tranche record', sidebar: 'tranche-record', component: HeadlampPage })
registerRoute({ path: PLUGIN_PATH, exact: false, name: 'Tranche', sidebar: 'tranche-rollouts', component: HeadlampPage })

registerDetailsViewHeaderAction(ReleaseAction)
registerDetailsViewSection(ReleaseSection)
