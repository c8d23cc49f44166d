import java.nio.file.*;
import java.util.*;
import org.apache.solr.ltr.feature.*;
import org.apache.solr.ltr.model.*;
import org.apache.solr.ltr.norm.*;
import org.noggit.ObjectBuilder;

/** Prints the scores that the classes of Solr give to the rows of a CSV file, whose header names features; an empty field is 0. */
public class SolrScores {
  @SuppressWarnings("unchecked")
  public static void main(String[] args) throws Exception {
    Map<String, Object> model = (Map<String, Object>) ObjectBuilder.fromJSON(Files.readString(Path.of(args[0])));
    List<Feature> features = new ArrayList<>();
    List<Normalizer> norms = new ArrayList<>();
    for (Map<String, Object> f : (List<Map<String, Object>>) model.get("features")) {
      features.add(new ValueFeature((String) f.get("name"), Map.of()));
      norms.add(IdentityNormalizer.INSTANCE);
    }
    LTRScoringModel m = LTRScoringModel.getInstance(new org.apache.solr.core.SolrResourceLoader(Path.of(".")), (String) model.get("class"),
        (String) model.get("name"), features, norms, "_DEFAULT_", features, (Map<String, Object>) model.get("params"));
    List<String> lines = Files.readAllLines(Path.of(args[1]));
    List<String> header = List.of(lines.get(0).split(",", -1));
    for (String line : lines.subList(1, lines.size())) {
      String[] words = line.split(",", -1);
      float[] row = new float[features.size()];
      for (int i = 0; i < row.length; i++) {
        String word = words[header.indexOf(features.get(i).getName())];
        row[i] = word.isEmpty() ? 0 : Float.parseFloat(word);
      }
      m.normalizeFeaturesInPlace(row);
      System.out.println((double) m.score(row));
    }
  }
}
