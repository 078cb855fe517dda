// Package deploy_test checks the files in the folder deploy that other programs read.
package deploy_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// TestKubernetes decodes the manifests into the types of Kubernetes, without unknown or repeated fields, and checks
// that they fit together.
func TestKubernetes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../../deploy/kubernetes.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var deployment apps.Deployment
	var services []core.Service
	var budget policy.PodDisruptionBudget
	for document := range strings.SplitSeq(string(text), "\n---\n") {
		var kind meta.TypeMeta
		if err := yaml.Unmarshal([]byte(document), &kind); err != nil {
			t.Fatal(err)
		}
		var service core.Service
		target := map[string]any{
			"apps/v1 Deployment": &deployment, "v1 Service": &service,
			"policy/v1 PodDisruptionBudget": &budget,
		}[kind.APIVersion+" "+kind.Kind]
		if target == nil {
			t.Fatalf("unknown kind %+v", kind)
		}
		if err := yaml.UnmarshalStrict([]byte(document), target, yaml.DisallowUnknownFields); err != nil {
			t.Errorf("%s: %v", kind.Kind, err)
		}
		if kind.Kind == "Service" {
			services = append(services, service)
		}
	}
	pod := deployment.Spec.Template
	if len(pod.Spec.Containers) != 1 || len(services) != 2 {
		t.Fatalf("%d containers, %d services", len(pod.Spec.Containers), len(services))
	}
	c := pod.Spec.Containers[0]
	ports := map[string]bool{}
	for _, p := range c.Ports {
		ports[p.Name] = true
	}
	for _, probe := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
		if probe == nil || probe.HTTPGet == nil || !ports[probe.HTTPGet.Port.StrVal] {
			t.Errorf("a probe has no port of the container: %+v", probe)
		}
	}
	for _, s := range services {
		if !slices.ContainsFunc(s.Spec.Ports, func(p core.ServicePort) bool { return ports[p.TargetPort.StrVal] }) {
			t.Errorf("the service %s has no port of the container", s.Name)
		}
		for label, value := range s.Spec.Selector {
			if pod.Labels[label] != value {
				t.Errorf("the service %s selects no pod", s.Name)
			}
		}
	}
	for label, value := range budget.Spec.Selector.MatchLabels {
		if pod.Labels[label] != value {
			t.Error("the disruption budget selects no pod")
		}
	}
	if s := c.SecurityContext; s == nil || !*s.ReadOnlyRootFilesystem || *s.AllowPrivilegeEscalation ||
		!*pod.Spec.SecurityContext.RunAsNonRoot {
		t.Errorf("the container is not restricted: %+v", s)
	}
}
