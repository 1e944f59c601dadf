// The panel beside the editor: the steps of the story, each setting up its tab and its person.
// Never: running anything; that stays the newcomer's to press.
import { type GraphiQLPlugin, useGraphiQL, useGraphiQLActions } from '@graphiql/react';
import { useContext } from 'react';
import { actAs, useSession } from '../session/store';
import { CastContext } from './cast';
import { asText, operations } from './operations';
import { useProgress } from './progress';
import { type Step, storyOf, tourOf } from './steps';

function StoryPanel() {
  const cast = useContext(CastContext);
  const { actingHandle } = useSession();
  const { done } = useProgress();
  const steps = storyOf(cast);
  const tour = tourOf(cast, actingHandle);
  const next = steps.find((step) => !done.includes(step.id));
  return (
    <section className="story" aria-labelledby="story-title">
      <h2 id="story-title">First steps</h2>
      <p>Two people, one message. Each step opens its tab, as the right person. Then run it: ▶ or Ctrl+Enter.</p>
      <Steps steps={steps} next={next} />
      {!next && <p className="story-end">That is all it takes. The book icon opens the whole schema.</p>}
      {tour.length > 0 && (
        <>
          <h2>The demo world</h2>
          <p>People who have been here for months. Log in as one of them and look around.</p>
          <Steps steps={tour} />
        </>
      )}
      <p>
        <button type="button" className="button" onClick={startOver}>
          Start over
        </button>
      </p>
    </section>
  );
}

function Steps({ steps, next }: { steps: Step[]; next?: Step }) {
  const { done } = useProgress();
  const setUp = useSetUp();
  return (
    <ol>
      {steps.map((step, index) => {
        const isDone = done.includes(step.id);
        return (
          <li key={step.id} data-done={isDone} aria-current={step.id === next?.id ? 'step' : undefined}>
            <button type="button" onClick={() => setUp(step)}>
              <span className="story-number" aria-hidden="true">
                {isDone ? '✓' : index + 1}
              </span>
              <span>
                <strong>{step.title}</strong>
                {isDone && <span className="only-spoken"> (done)</span>}
                <small>{step.hint}</small>
              </span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}

/** Opens the step's tab, writes its variables and acts as its person. */
function useSetUp() {
  const { addTab, changeTab } = useGraphiQLActions();
  const tabs = useGraphiQL((state) => state.tabs);
  const queryEditor = useGraphiQL((state) => state.queryEditor);
  const variableEditor = useGraphiQL((state) => state.variableEditor);
  return (step: Step) => {
    const index = tabs.findIndex((tab) => tab.title === step.operation);
    if (index >= 0) {
      changeTab(index);
    } else {
      addTab();
      queryEditor?.setValue(operations[step.operation]);
    }
    variableEditor?.setValue(asText(step.variables()));
    actAs(['SignUp', 'LogIn'].includes(step.operation) ? null : step.who);
  };
}

/** Forgets the people, the progress and the edits, and opens the playground as on a first visit. */
function startOver() {
  sessionStorage.clear();
  location.reload();
}

function StoryIcon() {
  return (
    <svg viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="1.6" strokeLinecap="round" aria-hidden="true">
      <path d="M9 6h11M9 12h11M9 18h11" />
      <path d="m3 6 1.200 1.200L6.500 4.800M3 12l1.200 1.200 2.300-2.400M3 18l1.200 1.200 2.300-2.400" />
    </svg>
  );
}

export const storyPlugin: GraphiQLPlugin = { title: 'First steps', icon: StoryIcon, content: StoryPanel };
